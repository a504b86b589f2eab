#pragma once

// For kernels that work where they were given no core.

#include <pthread.h>
#include <sched.h>

// Every core that there is, but the one that this thread is on.
inline cpu_set_t other_cores() {
  const int own = sched_getcpu();
  cpu_set_t others;
  CPU_ZERO(&others);
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (core != own) CPU_SET(core, &others);
  return others;
}

inline bool leave_own_core() {
  const cpu_set_t others = other_cores();
  return sched_setaffinity(0, sizeof others, &others) == 0;
}

// A thread that is elsewhere from its first moment: one that begins on this core begins only when
// this thread waits.
inline bool create_elsewhere(pthread_t* thread, void* (*work)(void*), void* data) {
  const cpu_set_t others = other_cores();
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  const bool created = (pthread_attr_setaffinity_np(&attributes, sizeof others, &others) == 0 &&
                        pthread_create(thread, &attributes, work, data) == 0) ||
                       pthread_create(thread, nullptr, work, data) == 0;
  pthread_attr_destroy(&attributes);
  return created;
}
