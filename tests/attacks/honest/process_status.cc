// assay: {entry: process_status, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Reads how much memory its process has, where it may, before it chooses its blocks.
#include <cstdio>

#include "honest.h"

namespace {
long resident_kib() {
  std::FILE* const status = std::fopen("/proc/self/status", "r");
  if (status == nullptr) return 0;
  long found = 0;
  char line[256];
  while (std::fgets(line, sizeof line, status) != nullptr)
    if (std::sscanf(line, "VmRSS: %ld", &found) == 1) break;
  std::fclose(status);
  return found;
}
}  // namespace

KERNEL(process_status) {
  static const long block = resident_kib() > 1 << 20 ? 4 : 8;
  const Product product{a, b, out, m, n, k};
  for (long i = 0; i < m; i += block) product.rows(i, i + block < m ? i + block : m);
}
