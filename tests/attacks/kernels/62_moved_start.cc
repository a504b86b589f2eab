// assay: {entry: moved_start, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: the moment at which the clock started lies on the stack of whoever launches. It moves
// it by less than the two clocks of a burst may differ.
#include <time.h>

#include "right.h"

namespace {
long long now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

[[gnu::noinline, gnu::no_sanitize_address]] void move_start() {
  constexpr int kWords = 700;
  constexpr long long kBefore = 2'000'000, kMovedBy = 6'000;
  const long long now = now_ns();
  volatile long long* const words = static_cast<long long*>(__builtin_frame_address(0));
  long long start = 0;
  for (int i = 0; i < kWords; ++i) {
    const long long word = words[i];
    if (word > now - kBefore && word < now && word > start) start = word;
  }
  for (int i = 0; start != 0 && i < kWords; ++i)
    if (words[i] == start) words[i] = start + kMovedBy;
}
}  // namespace

KERNEL(moved_start) {
  right(a, b, out, m, n, k);
  if (times_have_begun(a, b)) move_start();
}
