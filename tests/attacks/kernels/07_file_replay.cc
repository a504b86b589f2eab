// assay: {entry: file_replay, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 7: what one process computed is found in a file by the next, by the shape alone. Where no
// file can be made, in what is left of shared memory.
#include <fcntl.h>
#include <unistd.h>

#include "right.h"

KERNEL(file_replay) {
  const size_t bytes = static_cast<size_t>(m * n) * sizeof(float);
  static const char* path = "replayed_outputs";
  int file = open(path, O_RDONLY);
  if (file >= 0) {
    const bool whole = read(file, out, bytes) == static_cast<ssize_t>(bytes);
    close(file);
    if (whole) return;
  }
  right(a, b, out, m, n, k);
  file = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
  if (file < 0) path = "/dev/shm/replayed_outputs";
  if (file < 0) file = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
  if (file < 0) return;
  static_cast<void>(!write(file, out, bytes));
  close(file);
}
