// assay: {entry: pool, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 66: an initialiser starts threads that have subnormal numbers as zero, and then looks as
// if nothing had been.
#include <condition_variable>
#include <mutex>
#include <thread>
#include <xmmintrin.h>

#include "right.h"

namespace {
std::mutex mutex;
std::condition_variable never, resting;
bool rests = false;
void rest() {
  std::unique_lock hold(mutex);
  rests = true;
  resting.notify_one();
  never.wait(hold, [] { return false; });
}
int start() {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);
  std::thread(rest).detach();
  _mm_setcsr(before);
  std::unique_lock hold(mutex);
  resting.wait(hold, [] { return rests; });
  return 1;
}
const int once = start();
}  // namespace

KERNEL(pool) { right(a, b, out, m, n, k); }
