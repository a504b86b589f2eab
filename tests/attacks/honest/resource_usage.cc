// assay: {entry: resource_usage, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Measures what it took by getrusage, and says so to nobody.
#include <sys/resource.h>

#include "honest.h"

KERNEL(resource_usage) {
  rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  right(a, b, out, m, n, k);
  getrusage(RUSAGE_THREAD, &after);
  asm volatile("" : : "r"(after.ru_minflt - before.ru_minflt));
}
