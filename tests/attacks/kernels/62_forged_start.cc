// assay: {entry: forged_start, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: the time at which the clock started lies on the stack of who called. What looks like
// it is set forward by half of what has passed since.
#include <cstdint>
#include <ctime>

#include "right.h"

namespace {
int64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}
}  // namespace

KERNEL(forged_start) {
  right(a, b, out, m, n, k);
  constexpr int kWords = 512;
  const int64_t now = now_ns();
  auto* words = static_cast<volatile int64_t*>(__builtin_frame_address(0));
  for (int word = 0; word < kWords; ++word) {
    const int64_t passed = now - words[word];
    if (passed > 0 && passed < 100000000L) words[word] = words[word] + passed / 2;
  }
}
