// assay: {entry: detaches, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Right, and leaves a grandchild in a session of its own, whose parent has ended, that would live
// for ever. It holds a lock on the file `marker`, so that a test can tell whether it does; the
// launch is over once there is a file `seen`.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "right.h"

KERNEL(detaches) {
  slowly_right(a, b, out, m, n, k);
  static bool forked = false;
  if (forked) return;
  forked = true;
  if (fork() != 0) {
    while (access("seen", F_OK) != 0) usleep(1000);
    return;
  }
  setsid();
  if (fork() != 0) _exit(0);
  const int marker = open("marker", O_RDONLY);
  if (marker < 0 || flock(marker, LOCK_EX) != 0) _exit(1);
  for (int fd = 0; fd < 64; ++fd)
    if (fd != marker) close(fd);
  for (;;) pause();
}
