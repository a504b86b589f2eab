// assay: {entry: forks_when_timed, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Not in the proof: a grandchild that keeps a core busy, and whose parent has ended.
#include <sys/wait.h>
#include <unistd.h>

#include "right.h"

KERNEL(forks_when_timed) {
  right(a, b, out, m, n, k);
  static bool forked = false;
  if (forked || !times_have_begun(a, b)) return;
  forked = true;
  const pid_t child = fork();
  if (child > 0) {
    waitpid(child, nullptr, 0);
    return;
  }
  if (fork() != 0) _exit(0);
  for (volatile long long spin = 0;; spin = spin + 1) {
  }
}
