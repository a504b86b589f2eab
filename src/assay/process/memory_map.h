#pragma once

// What is mapped in this process (/proc/self/maps).

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace assay::sweep {

// Named apart from another process's (code_pages.h): two types of one name would share the code of
// std::vector, and one of them its layout.
struct OwnMapping {
  uintptr_t begin = 0, end = 0;
  bool read = false, write = false, run = false, shared = false;
  uint64_t offset = 0;  // In its file, of the first byte.
  dev_t device = 0;     // Of the file; inode 0: none.
  ino_t inode = 0;
  std::string name;  // Of the file, or as "[heap]".
};

// In the order of their addresses; empty where the system does not say.
std::vector<OwnMapping> read_memory_map();

}  // namespace assay::sweep
