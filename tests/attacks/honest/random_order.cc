// assay: {entry: random_order, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Rows in an order that is drawn anew for each launch.
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "honest.h"

KERNEL(random_order) {
  static std::mt19937 numbers(std::random_device{}());
  const Product product{a, b, out, m, n, k};
  std::vector<long> order(static_cast<size_t>(m));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), numbers);
  for (const long i : order) product.rows(i, i + 1);
}
