// assay: {entry: all_mappings, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 64: takes every mapping that its process may have, so that rivals there find no memory.
#include <sys/mman.h>

#include "right.h"

KERNEL(all_mappings) {
  static bool taken = false;
  right(a, b, out, m, n, k);
  if (taken || !times_have_begun(a, b)) return;
  taken = true;
  constexpr long kPage = 4096, kMost = 70000;
  auto* pages = static_cast<char*>(
      mmap(nullptr, kMost * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (pages == MAP_FAILED) return;
  for (long page = 0; page < kMost; page += 2)
    if (mprotect(pages + page * kPage, kPage, PROT_READ) != 0) return;
}
