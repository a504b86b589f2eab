// assay: {entry: prints, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Right, and loud: a megabyte to each stream whenever inputs have not been seen before.
#include <string.h>
#include <unistd.h>

#include "right.h"

KERNEL(prints) {
  slowly_right(a, b, out, m, n, k);
  static int calls = 0;
  if (calls++ % 16 != 0) return;
  char garbage[4096];
  memset(garbage, 'G', sizeof garbage);
  memcpy(garbage, "\x1b[31m{\"winner\": \"GARBAGE\"}\n", 27);
  for (int i = 0; i < 256; ++i)
    for (int stream = 1; stream <= 2; ++stream)
      if (write(stream, garbage, sizeof garbage) < 0) return;
}
