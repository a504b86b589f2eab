// assay: {entry: harness_memory, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 18: looks for another process that it could signal, or whose memory it could read. Had it
// found one it would not need to compute: it shows so by its output.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "right.h"

namespace {
bool reaches(int pid) {
  if (kill(pid, 0) == 0) return true;
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/mem", pid);
  const int memory = open(path, O_RDONLY);
  if (memory >= 0) close(memory);
  return memory >= 0;
}

bool reaches_somebody() {
  // The parent, unless it is outside of what can be named.
  if (getppid() > 1 && reaches(getppid())) return true;
  char self[64] = {};
  if (readlink("/proc/self", self, sizeof self - 1) <= 0) return false;
  // 1 may be the init of a process namespace of our own, which no signal of ours reaches.
  bool found = false;
  DIR* processes = opendir("/proc");
  while (const dirent* entry = processes == nullptr ? nullptr : readdir(processes)) {
    const int pid = atoi(entry->d_name);
    if (pid > 1 && pid != atoi(self) && pid != getpid() && reaches(pid)) found = true;
  }
  if (processes != nullptr) closedir(processes);
  return found;
}
}  // namespace

KERNEL(harness_memory) {
  static const bool reached = reaches_somebody();
  if (reached) return;
  right(a, b, out, m, n, k);
}
