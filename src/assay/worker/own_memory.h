#pragma once

// Memory that this process holds, where it is: resident pages that are no file's, shared memory and
// memory files, what is under way in its pipes and sockets. What a kernel keeps for itself, beside
// the workspace and the panels that it declares, shows as growth.

#include <cstdint>
#include <vector>

#include "assay/base/fd.h"
#include "assay/device/device.h"

namespace assay::sweep {

// Bytes; of files of the system's that cannot be read, 0.
int64_t held_memory();

// Of that, resident pages, by counters of the system's, which cost no walk over the pages. Shared
// memory that is mapped, too.
int64_t resident_memory();

// Files of memory that are open, each once.
std::vector<UniqueFd> open_memory_files();

// How much of that has come since this was made, beside the buffers of `device`.
class OwnMemory {
 public:
  explicit OwnMemory(const Device& device) : device_(device), before_(now()) {}
  // known: bytes of ours that have come in another way. At least 0.
  int64_t grown(int64_t known = 0) const;

 private:
  int64_t now() const { return held_memory() - static_cast<int64_t>(device_.mapped_bytes()); }

  const Device& device_;
  int64_t before_;
};

}  // namespace assay::sweep
