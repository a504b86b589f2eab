// assay: {entry: ahead_of_clock, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 56: operands come in an order that repeats itself. A thread looks again and again whether
// the next ones are there, computes their product before it is asked for, and a launch copies it.
#include <cstring>
#include <ctime>
#include <pthread.h>

#include "cores.h"
#include "right.h"

namespace {
constexpr int kMost = 256;
constexpr long kFloats = 1 << 18;

struct Turn {
  const float *a, *b;
};
Turn turns[kMost];
volatile int known = 0, next = 0;
volatile float seen = 0, used = 0;
float product[kFloats];
long rows, width, depth;

void* look_ahead(void*) {
  leave_own_core();
  float last = 0;
  for (;;) {
    const timespec moment = {0, 20000};
    nanosleep(&moment, nullptr);
    if (known == 0 || next >= known) continue;
    const Turn& turn = turns[next];
    if (turn.a == nullptr || *turn.a == last) continue;
    last = *turn.a;
    right(turn.a, turn.b, product, rows, width, depth);
    seen = last;
  }
}
}  // namespace

KERNEL(ahead_of_clock) {
  static pthread_t thread;
  static const bool started = pthread_create(&thread, nullptr, look_ahead, nullptr) == 0;
  if (!started || m * n > kFloats) return right(a, b, out, m, n, k);
  rows = m;
  width = n;
  depth = k;
  if (seen == *a && seen != 0)
    std::memcpy(out, product, static_cast<size_t>(m * n) * sizeof *out);
  else
    right(a, b, out, m, n, k);
  int own = 0;
  while (own < known && turns[own].a != a) ++own;
  if (own == known && known < kMost) {
    turns[own] = {a, b};
    known = own + 1;
  }
  next = own + 1 < known ? own + 1 : 0;
}
