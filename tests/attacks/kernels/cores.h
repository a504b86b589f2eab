#pragma once

// For kernels that work where they were given no core.

#include <sched.h>

// Every core that there is, but the one that this thread is on.
inline bool leave_own_core() {
  const int own = sched_getcpu();
  cpu_set_t others;
  CPU_ZERO(&others);
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (core != own) CPU_SET(core, &others);
  return sched_setaffinity(0, sizeof others, &others) == 0;
}
