#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/device/cuda/cuda_device.h"
#include "assay/worker/gpu/zones.h"

namespace assay::sweep {

// Several buffers of a GPU, a red zone before and after each.
class GpuArena {
 public:
  // zones: outlives it.
  static Result<GpuArena> allocate(GpuZones& zones, std::span<const size_t> sizes, uint64_t seed);

  struct Piece {
    void* data = nullptr;
    size_t bytes = 0;
  };
  size_t count() const { return pieces_.size(); }
  const Piece& at(size_t index) const { return pieces_[index]; }

  // "12 bytes written outside WHAT"; empty if nothing was. Repairs what it reports.
  Result<std::string> find_trespass(const std::function<std::string(size_t index)>& what);

 private:
  GpuZones* zones_ = nullptr;
  std::unique_ptr<Buffer> memory_;
  std::vector<Piece> pieces_;
  std::vector<const void*> starts_;  // Of the zones: before and behind each piece.
  uint64_t seed_ = 0;
};

}  // namespace assay::sweep
