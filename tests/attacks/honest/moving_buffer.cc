// assay: {entry: moving_buffer, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Grows, moves, protects, drops and unmaps memory of its own.
#include <cstring>
#include <sys/mman.h>

#include "../kernels/right.h"

KERNEL(moving_buffer) {
  const size_t bytes = (static_cast<size_t>(m * n) * sizeof(float) + 4095) / 4096 * 4096;
  void* buffer = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  buffer = mremap(buffer, bytes, 2 * bytes, MREMAP_MAYMOVE);
  if (buffer == MAP_FAILED) return;
  right(a, b, static_cast<float*>(buffer), m, n, k);
  if (mprotect(buffer, bytes, PROT_READ) == 0)
    memcpy(out, buffer, static_cast<size_t>(m * n) * sizeof(float));
  mprotect(buffer, bytes, PROT_READ | PROT_WRITE);
  madvise(buffer, bytes, MADV_DONTNEED);
  munmap(buffer, 2 * bytes);
}
