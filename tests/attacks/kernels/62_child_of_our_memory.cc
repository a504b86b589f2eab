// assay: {entry: child_of_our_memory, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: a child that shares its memory writes there through the file.
#include <csignal>
#include <sched.h>
#include <sys/wait.h>

#include "patch.h"

namespace {
bool wrote = false;
int write_there(void*) {
  char file[64];
  snprintf(file, sizeof file, "/proc/%d/mem", getppid());
  wrote = writes_through("/proc/self/mem", dlsym(RTLD_DEFAULT, "pread")) ||
          writes_through(file, dlsym(RTLD_DEFAULT, "pread")) ||
          mprotect(libc_page("pread"), kPage, PROT_READ | PROT_WRITE | PROT_EXEC) == 0;
  return 0;
}
bool child_writes() {
  static char stack[65536];
  const int child =
      clone(write_there, stack + sizeof stack, CLONE_VM | CLONE_FILES | SIGCHLD, nullptr);
  if (child > 0) waitpid(child, nullptr, 0);
  return wrote;
}
}  // namespace

PATCHING_KERNEL(child_of_our_memory, child_writes())
