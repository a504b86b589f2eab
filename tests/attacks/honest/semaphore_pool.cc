// assay: {entry: semaphore_pool, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// A helper behind two semaphores of C++20.
#include <semaphore>

#include "pool.h"

namespace {
std::binary_semaphore wanted(0), finished(0);
Halves halves;

void help() {
  for (;;) {
    wanted.acquire();
    halves.upper();
    finished.release();
  }
}
}  // namespace

KERNEL(semaphore_pool) {
  static const bool started = start_helper(help);
  halves.product = {a, b, out, m, n, k};
  if (started) wanted.release();
  halves.lower();
  finished.acquire();
}
