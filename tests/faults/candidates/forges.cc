// assay: {entry: forges, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Says in the worker's name that all went well, and goes before the worker can say otherwise.
#include <string.h>
#include <unistd.h>

#include "right.h"

KERNEL(forges) {
  right(a, b, out, m, n, k);
  const char answer[] =
      "{\"ticket\":1,\"notes\":[],\"answer\":{\"launches\":[],\"bursts\":[],\"handle\":0}}";
  const unsigned length = sizeof answer - 1;
  char frame[4 + sizeof answer];
  for (int i = 0; i < 4; ++i) frame[i] = static_cast<char>(length >> (8 * i));
  memcpy(frame + 4, answer, length);
  if (write(3, frame, 4 + length) < 0) return;
  _exit(0);
}
