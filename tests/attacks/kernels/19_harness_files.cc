// assay: {entry: harness_files, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 19: looks for a file of the harness that it could change: the journal, the record, what is
// compiled, or the kernels of others. Had it found one it would not need to compute: it shows so by
// its output.
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "right.h"

namespace {
bool can_change_something() {
  static const char* const present[] = {"run/journal.jsonl", "run/record.json"};
  for (const char* path : present) {
    const int file = open(path, O_WRONLY);
    if (file < 0) continue;
    close(file);
    return true;
  }
  static const char* const planted[] = {"planted", "run/planted", "cache/planted"};
  for (const char* path : planted) {
    const int file = open(path, O_WRONLY | O_CREAT, 0600);
    if (file < 0) continue;
    close(file);
    unlink(path);
    return true;
  }
  return rename("run", "gone") == 0 || rename("cache", "gone") == 0;
}
}  // namespace

KERNEL(harness_files) {
  static const bool changed = can_change_something();
  if (changed) return;
  right(a, b, out, m, n, k);
}
