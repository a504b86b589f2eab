// assay: {entry: keeps_spinning, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
#include <pthread.h>

#include "right.h"

namespace {
void* spin(void*) {
  for (volatile int forever = 1; forever != 0;) {
  }
  return nullptr;
}
}  // namespace

KERNEL(keeps_spinning) {
  right(a, b, out, m, n, k);
  static bool started = false;
  pthread_t thread;
  if (!started) started = pthread_create(&thread, nullptr, spin, nullptr) == 0;
}
