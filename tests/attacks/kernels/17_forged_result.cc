// assay: {entry: forged_result, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 17: a result message in the worker's name, and an end before the real one is written.
#include <stdio.h>
#include <unistd.h>

#include "right.h"

KERNEL(forged_result) {
  right(a, b, out, m, n, k);
  char answer[256];
  const int length = snprintf(answer + 4, sizeof answer - 4,
                              "{\"bursts\": [[1000, 1, 0, 1]], \"launches\": [{\"ns\": 1}]}");
  for (int i = 0; i < 4; ++i) answer[i] = static_cast<char>(length >> (8 * i));
  for (int descriptor = 3; descriptor < 16; ++descriptor)
    if (write(descriptor, answer, static_cast<size_t>(4 + length)) > 0) _exit(0);
}
