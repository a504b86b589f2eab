// assay: {entry: leaks, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
#include <stdlib.h>
#include <string.h>

#include "right.h"

KERNEL(leaks) {
  right(a, b, out, m, n, k);
  for (;;) {
    constexpr size_t bytes = 1 << 20;
    void* memory = malloc(bytes);
    if (memory == nullptr) return;
    memset(memory, 1, bytes);
    asm volatile("" ::"r"(memory) : "memory");
  }
}
