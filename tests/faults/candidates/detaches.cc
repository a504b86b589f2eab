// assay: {entry: detaches, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Right, and leaves a grandchild in a session of its own, with no parent but init, that would live
// for ever. It holds a lock on the file `marker`, so that a test can tell whether it does.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "right.h"

KERNEL(detaches) {
  slowly_right(a, b, out, m, n, k);
  static bool forked = false;
  if (forked) return;
  forked = true;
  if (fork() != 0) return;
  setsid();
  if (fork() != 0) _exit(0);
  const int marker = open("marker", O_RDONLY);
  if (marker < 0 || flock(marker, LOCK_EX) != 0) _exit(1);
  for (int fd = 0; fd < 64; ++fd)
    if (fd != marker) close(fd);
  for (;;) pause();
}
