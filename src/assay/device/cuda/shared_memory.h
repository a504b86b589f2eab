#pragma once

// Memory of a GPU that one process owns and another one reads.

#include <cstdint>
#include <memory>

#include "assay/device/cuda/cuda_device.h"

namespace assay::cuda {

// What the other process needs to find it. Whole allocations are shared, and small ones lie in
// pages with others of the same process: what is to stay alone has a multiple of kSharedPage.
struct SharedMemory {
  abi::IpcMemory allocation = {};
  uint64_t offset = 0, bytes = 0;
};
inline constexpr size_t kSharedPage = size_t{2} << 20;

// ErrorCode::unsupported where the driver does not let memory be shared.
Result<SharedMemory> share(const Driver& driver, const void* data, size_t bytes);

// The other process's view of it. Not longer than its owner keeps it.
class SharedView {
 public:
  static Result<SharedView> open(std::shared_ptr<const Driver> driver, const SharedMemory& shared);
  SharedView(SharedView&& other) noexcept;
  SharedView& operator=(SharedView&&) = delete;
  ~SharedView();

  const void* data() const { return reinterpret_cast<const void*>(allocation_ + offset_); }

 private:
  SharedView(std::shared_ptr<const Driver> driver, uint64_t offset)
      : driver_(std::move(driver)), offset_(offset) {}
  std::shared_ptr<const Driver> driver_;
  abi::Address allocation_ = 0;
  uint64_t offset_;
};

}  // namespace assay::cuda
