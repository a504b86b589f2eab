// assay: {entry: huge_pages, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Scratch of huge pages, where the system has some.
#include <sys/mman.h>

#include "honest.h"

KERNEL(huge_pages) {
  constexpr size_t kSize = size_t{4} << 20;
  static float* const scratch = [] {
    void* const pages =
        mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return static_cast<float*>(nullptr);
    madvise(pages, kSize, MADV_HUGEPAGE);
    return static_cast<float*>(pages);
  }();
  if (scratch == nullptr || bytes_of(n * k) > kSize) return right(a, b, out, m, n, k);
  transpose(b, scratch, n, k);
  by_columns(a, scratch, out, m, n, k);
}
