// assay: {entry: warm_helper, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 31: a thread on another core reads each b that it has seen, again and again, so that
// none of them is cold.
#include <ctime>
#include <pthread.h>

#include "cores.h"
#include "right.h"

namespace {
constexpr int kMost = 256;
const float* volatile seen[kMost];
volatile int count = 0;
volatile long size = 0;

void* keep_warm(void*) {
  leave_own_core();
  for (;;) {
    const timespec moment = {0, 100000};
    nanosleep(&moment, nullptr);
    for (int i = 0; i < count; ++i)
      for (long at = 0; at < size; at += 16) asm volatile("" : : "x"(seen[i][at]));
  }
}
}  // namespace

KERNEL(warm_helper) {
  static pthread_t thread;
  static bool started = false;
  right(a, b, out, m, n, k);
  if (!times_have_begun(a, b)) return;
  int own = 0;
  while (own < count && seen[own] != b) ++own;
  if (own == count && own < kMost) {
    seen[own] = b;
    count = own + 1;
  }
  size = k * n;
  if (!started) started = pthread_create(&thread, nullptr, keep_warm, nullptr) == 0;
}
