// assay: {entry: composed_functions, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// A launch as a list of std::function, made and then run.
#include <functional>
#include <vector>

#include "honest.h"

KERNEL(composed_functions) {
  const Product product{a, b, out, m, n, k};
  std::vector<std::function<void()>> steps;
  for (long i = 0; i < m; ++i) steps.emplace_back([product, i] { product.rows(i, i + 1); });
  for (const auto& step : steps) step();
}
