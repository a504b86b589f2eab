// assay: {entry: async_halves, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// The upper half by std::async, whose thread ends within the launch.
#include <future>

#include "pool.h"

KERNEL(async_halves) {
  const Halves halves{{a, b, out, m, n, k}};
  const std::future<void> upper = std::async(std::launch::async, [&] { halves.upper(); });
  halves.lower();
  upper.wait();
}
