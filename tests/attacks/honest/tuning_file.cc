// assay: {entry: tuning_file, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Looks for a file of tuned blocks, which is not there.
#include <cerrno>
#include <cstdio>

#include "honest.h"

namespace {
long block_from_file() {
  long block = 8;
  if (std::FILE* const file = std::fopen("/etc/my_gemm.tuned", "r")) {
    if (std::fscanf(file, "%ld", &block) != 1 || block < 1) block = 8;
    std::fclose(file);
  }
  errno = 0;
  return block;
}
}  // namespace

KERNEL(tuning_file) {
  static const long block = block_from_file();
  const Product product{a, b, out, m, n, k};
  for (long i = 0; i < m; i += block) product.rows(i, i + block < m ? i + block : m);
}
