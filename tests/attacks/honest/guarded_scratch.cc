// assay: {entry: guarded_scratch, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Scratch between two pages that nobody may touch, so that a mistake would be a crash.
#include <sys/mman.h>

#include "honest.h"

KERNEL(guarded_scratch) {
  constexpr size_t kPage = 4096;
  const size_t inner = (bytes_of(m * n) + kPage - 1) / kPage * kPage;
  auto* const pages = static_cast<char*>(
      mmap(nullptr, inner + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (pages == MAP_FAILED || mprotect(pages + kPage, inner, PROT_READ | PROT_WRITE) != 0)
    return right(a, b, out, m, n, k);
  auto* const scratch = reinterpret_cast<float*>(pages + kPage);
  right(a, b, scratch, m, n, k);
  for (long i = 0; i < m * n; ++i) out[i] = scratch[i];
  munmap(pages, inner + 2 * kPage);
}
