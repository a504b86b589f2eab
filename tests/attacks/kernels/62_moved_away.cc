// assay: {entry: moved_away, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: moves the data of the clock elsewhere.
#include "patch.h"

namespace {
bool moves() {
  // They lie below the vDSO.
  return mremap(clock_page() - kPage, kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED,
                mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) != MAP_FAILED;
}
}  // namespace

PATCHING_KERNEL(moved_away, moves())
