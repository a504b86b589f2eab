// assay: {entry: memory_file_scratch, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Scratch in a memory file, shared with nobody.
#include <sys/mman.h>
#include <unistd.h>

#include "honest.h"

KERNEL(memory_file_scratch) {
  const int file = memfd_create("scratch", MFD_CLOEXEC);
  const size_t size = bytes_of(n * k);
  if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) return right(a, b, out, m, n, k);
  void* const scratch = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (scratch == MAP_FAILED) return right(a, b, out, m, n, k);
  transpose(b, static_cast<float*>(scratch), n, k);
  by_columns(a, static_cast<float*>(scratch), out, m, n, k);
  munmap(scratch, size);
}
