#pragma once

// Packed constants of one kernel, in a process's own memory: whole pages in large chunks, a few
// random pages apart, so that panels of different sets do not all start at the same place of a huge
// page.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "assay/base/random.h"
#include "assay/base/result.h"
#include "assay/device/device.h"
#include "assay/kernel/family.h"

namespace assay::sweep {

class PreparedPool : public Prepared {
 public:
  // `expected` calls of like size: their memory is taken in few large chunks.
  PreparedPool(Device& device, uint64_t seed, size_t expected)
      : device_(device), random_{seed, 7}, expected_(expected) {}

  // What is there is no earlier kernel's work.
  Result<std::span<std::byte>> allocate(size_t bytes) override;

 private:
  Device& device_;
  CounterRandom random_;
  uint64_t calls_ = 0;
  size_t expected_;
  std::vector<std::unique_ptr<Buffer>> chunks_;
  size_t used_ = 0;
};

}  // namespace assay::sweep
