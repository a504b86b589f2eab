// assay: {entry: cache_sizes, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Reads the sizes of caches from the system's files and by sysconf, and falls back where there
// are none.
#include <algorithm>
#include <cstdio>
#include <unistd.h>

#include "honest.h"

namespace {
long first_cache_bytes() {
  long kib = 0;
  if (std::FILE* const file = std::fopen("/sys/devices/system/cpu/cpu0/cache/index0/size", "r")) {
    if (std::fscanf(file, "%ldK", &kib) != 1) kib = 0;
    std::fclose(file);
  }
  const long named = sysconf(_SC_LEVEL1_DCACHE_SIZE);
  return kib > 0 ? kib << 10 : named > 0 ? named : 32 << 10;
}
}  // namespace

KERNEL(cache_sizes) {
  static const long bytes = first_cache_bytes();
  const long width = std::clamp(bytes / 4 / (k + 1), 8L, 512L);
  for (long left = 0; left < n; left += width)
    for (long i = 0; i < m; ++i)
      for (long j = left; j < std::min(left + width, n); ++j) {
        float sum = 0;
        for (long p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
        out[i * n + j] = sum;
      }
}
