// assay: {entry: own_shared, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 34: keeps 24 MiB in shared memory whose name is gone.
#include "keeping.h"

namespace {
void keep() {
  const int file = shm_open("/kept", O_CREAT | O_RDWR, 0600);
  shm_unlink("/kept");
  (void)!ftruncate(file, kBytes);
  fill(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), kBytes);
  close(file);
}
}  // namespace

KERNEL(own_shared) {
  static bool once = (keep(), true);
  if (once) right(a, b, out, m, n, k);
}
