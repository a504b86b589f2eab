#pragma once

// For kernels that keep memory beside the workspace that they declare.

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "right.h"

inline constexpr size_t kBytes = size_t{24} << 20;

// Touches all of it, and lets nobody think that it is not needed.
inline void fill(void* memory, size_t bytes) {
  memset(memory, 1, bytes);
  asm volatile("" : : "r"(memory) : "memory");
}
