// assay: {entry: exceptions, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Throws where a block is not whole, and catches that within the launch.
#include <stdexcept>

#include "honest.h"

namespace {
void whole_block(const Product& product, long first) {
  if (first + 4 > product.m) throw std::out_of_range("not whole");
  product.rows(first, first + 4);
}
}  // namespace

KERNEL(exceptions) {
  const Product product{a, b, out, m, n, k};
  for (long i = 0; i < m; i += 4) {
    try {
      whole_block(product, i);
    } catch (const std::out_of_range&) {
      product.rows(i, m);
    }
  }
}
