// assay: {entry: dropped_pages, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Scratch whose pages each launch hands back to the system.
#include <sys/mman.h>

#include "honest.h"

KERNEL(dropped_pages) {
  constexpr size_t kSize = size_t{1} << 20;
  static void* const scratch =
      mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (scratch == MAP_FAILED || bytes_of(n * k) > kSize) return right(a, b, out, m, n, k);
  transpose(b, static_cast<float*>(scratch), n, k);
  by_columns(a, static_cast<float*>(scratch), out, m, n, k);
  madvise(scratch, kSize, MADV_DONTNEED);
}
