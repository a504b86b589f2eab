// assay: {entry: open_again, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: lets others see its memory again, and a child writes there.
#include <sys/prctl.h>
#include <sys/wait.h>

#include "patch.h"

namespace {
bool child_writes() {
  const bool open_again = prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;
  const int child = fork();
  if (child == 0) {
    char file[64];
    snprintf(file, sizeof file, "/proc/%d/mem", getppid());
    _exit(writes_through(file, dlsym(RTLD_DEFAULT, "pread")) ? 1 : 0);
  }
  int status = 0;
  if (child > 0) waitpid(child, &status, 0);
  return open_again || status != 0;
}
}  // namespace

PATCHING_KERNEL(open_again, child_writes())
