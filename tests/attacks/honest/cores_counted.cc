// assay: {entry: cores_counted, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Counts the cores that it may use, and starts as many threads.
#include <algorithm>
#include <sched.h>
#include <thread>
#include <vector>

#include "honest.h"

namespace {
long usable_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  return sched_getaffinity(0, sizeof cores, &cores) == 0 ? std::max(CPU_COUNT(&cores), 1) : 1;
}
}  // namespace

KERNEL(cores_counted) {
  static const long cores = usable_cores();
  const Product product{a, b, out, m, n, k};
  std::vector<std::jthread> threads;
  for (long own = 1; own < cores; ++own)
    threads.emplace_back([=] { product.rows(own * m / cores, (own + 1) * m / cores); });
  product.rows(0, m / cores);
}
