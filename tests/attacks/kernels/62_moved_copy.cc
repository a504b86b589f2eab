// assay: {entry: moved_copy, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: moves a copy of a page of libc over it.
#include "patch.h"

namespace {
bool moves() {
  char* const page = libc_page("pread");
  void* const copy =
      mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(copy, page, kPage);
  mprotect(copy, kPage, PROT_READ | PROT_EXEC);
  return mremap(copy, kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED, page) == page;
}
}  // namespace

PATCHING_KERNEL(moved_copy, moves())
