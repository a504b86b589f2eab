// assay: {entry: shared_over, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: maps shared memory over the program.
#include <sys/shm.h>

#include "patch.h"

namespace {
bool maps() {
  const int memory = shmget(IPC_PRIVATE, kPage, IPC_CREAT | 0600);
  return memory >= 0 &&
         shmat(memory, program_page(), SHM_REMAP | SHM_RDONLY | SHM_EXEC) == program_page();
}
}  // namespace

PATCHING_KERNEL(shared_over, maps())
