// assay: {entry: forges_and_stays, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// As `forges`, but the worker's own answer follows, and would be taken for the next one's.
#include <string.h>
#include <unistd.h>

#include "right.h"

KERNEL(forges_and_stays) {
  right(a, b, out, m, n, k);
  const char answer[] = "{\"launches\": []}";
  const unsigned length = sizeof answer - 1;
  char frame[4 + sizeof answer];
  for (int i = 0; i < 4; ++i) frame[i] = static_cast<char>(length >> (8 * i));
  memcpy(frame + 4, answer, length);
  static_cast<void>(!write(3, frame, 4 + length));
}
