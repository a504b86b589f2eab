// assay: {entry: all_sets, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 54: a copy of every b is kept, in a cache, and read instead of the one that is flushed.
#include <stdlib.h>
#include <string.h>

#include "right.h"

namespace {

constexpr int kMost = 256, kSamples = 16;

struct Copy {
  const float* of;
  float* numbers;
};
Copy copies[kMost];
int count;

bool is_copy(const float* b, const float* copy, long elements) {
  for (long i = 0; i < kSamples; ++i)
    if (b[i * 7919 % elements] != copy[i * 7919 % elements]) return false;
  return true;
}

const float* copy_of(const float* b, long elements) {
  int at = 0;
  while (at < count && copies[at].of != b) ++at;
  if (at == kMost) return b;
  if (at == count)
    copies[count++] = {b, static_cast<float*>(malloc(static_cast<size_t>(elements) * 4))};
  else if (is_copy(b, copies[at].numbers, elements))
    return copies[at].numbers;
  memcpy(copies[at].numbers, b, static_cast<size_t>(elements) * 4);
  return b;
}

}  // namespace

KERNEL(all_sets) { right(a, times_have_begun(a, b) ? copy_of(b, k * n) : b, out, m, n, k); }
