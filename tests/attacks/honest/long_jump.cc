// assay: {entry: long_jump, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Leaves its loops by longjmp when the last row is done.
#include <csetjmp>

#include "honest.h"

namespace {
std::jmp_buf behind;
[[noreturn]] void leave() { std::longjmp(behind, 1); }
}  // namespace

KERNEL(long_jump) {
  const Product product{a, b, out, m, n, k};
  volatile long row = 0;
  if (setjmp(behind) != 0) return;
  for (;;) {
    if (row == m) leave();
    product.rows(row, row + 1);
    row = row + 1;
  }
}
