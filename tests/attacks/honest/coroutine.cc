// assay: {entry: coroutine, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// A coroutine hands out one row after another.
#include <coroutine>
#include <exception>

#include "honest.h"

namespace {
struct Rows {
  struct promise_type {
    long row = 0;
    Rows get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(long next) noexcept {
      row = next;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

Rows rows_below(long m) {
  for (long i = 0; i < m; ++i) co_yield i;
}
}  // namespace

KERNEL(coroutine) {
  const Product product{a, b, out, m, n, k};
  const Rows rows = rows_below(m);
  for (rows.handle.resume(); !rows.handle.done(); rows.handle.resume())
    product.rows(rows.handle.promise().row, rows.handle.promise().row + 1);
  rows.handle.destroy();
}
