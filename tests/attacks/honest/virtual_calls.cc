// assay: {entry: virtual_calls, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// A small hierarchy of classes, made on the heap for each launch.
#include <memory>

#include "honest.h"

namespace {
struct Step {
  virtual ~Step() = default;
  virtual void run(const Product& product, long row) const = 0;
};
struct Plain : Step {
  void run(const Product& product, long row) const override { product.rows(row, row + 1); }
};
}  // namespace

KERNEL(virtual_calls) {
  const Product product{a, b, out, m, n, k};
  const std::unique_ptr<Step> step = std::make_unique<Plain>();
  for (long i = 0; i < m; ++i) step->run(product, i);
}
