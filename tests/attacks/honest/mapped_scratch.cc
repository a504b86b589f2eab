// assay: {entry: mapped_scratch, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Scratch that is mapped once, populated, and kept.
#include <sys/mman.h>

#include "honest.h"

KERNEL(mapped_scratch) {
  static void* scratch = nullptr;
  static size_t size = 0;
  if (size < bytes_of(n * k)) {
    if (scratch != nullptr) munmap(scratch, size);
    size = bytes_of(n * k);
    scratch = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (scratch == MAP_FAILED) scratch = nullptr, size = 0;
  }
  if (scratch == nullptr) return right(a, b, out, m, n, k);
  transpose(b, static_cast<float*>(scratch), n, k);
  by_columns(a, static_cast<float*>(scratch), out, m, n, k);
}
