#include "assay/device/cuda/shared_memory.h"

#include <utility>

namespace assay::cuda {
namespace {

// CUDA_ERROR_NOT_SUPPORTED, and what a sandbox makes of it, are no defect.
Status check_sharing(const Driver& driver, abi::Result code, std::string_view doing) {
  Status status = driver.check(code, doing);
  if (!status && status.error().code == ErrorCode::failed)
    status.error().code = ErrorCode::unsupported;
  return status;
}

}  // namespace

Result<SharedMemory> share(const Driver& driver, const void* data, size_t bytes) {
  const auto address = reinterpret_cast<abi::Address>(data);
  abi::Address start = 0;
  size_t size = 0;
  ASSAY_TRY(driver.check(driver.call().address_range(&start, &size, address),
                         "looking for an allocation"));
  if (address < start || bytes > size || address - start > size - bytes)
    return fail(ErrorCode::internal, "memory to be shared is no part of one allocation");
  SharedMemory shared{{}, address - start, bytes};
  ASSAY_TRY(check_sharing(driver, driver.call().ipc_handle(&shared.allocation, start),
                          "sharing memory of a GPU"));
  return shared;
}

Result<SharedView> SharedView::open(std::shared_ptr<const Driver> driver,
                                    const SharedMemory& shared) {
  SharedView view(std::move(driver), shared.offset);
  const Driver& made = *view.driver_;
  abi::Address allocation = 0;
  ASSAY_TRY(check_sharing(
      made, made.call().ipc_open(&allocation, shared.allocation, abi::kIpcLazyPeerAccess),
      "opening shared memory of a GPU"));
  view.allocation_ = allocation;
  // The numbers are another process's.
  abi::Address start = 0;
  size_t size = 0;
  ASSAY_TRY(
      made.check(made.call().address_range(&start, &size, allocation), "measuring shared memory"));
  const uint64_t room = size - (allocation - start);
  if (shared.bytes > room || shared.offset > room - shared.bytes)
    return fail(ErrorCode::failed, "shared memory has {} bytes, {} from {} on were to be in it",
                room, shared.bytes, shared.offset);
  return view;
}

SharedView::SharedView(SharedView&& other) noexcept
    : driver_(std::move(other.driver_)),
      allocation_(std::exchange(other.allocation_, 0)),
      offset_(other.offset_) {}

SharedView::~SharedView() {
  if (allocation_ != 0) (void)driver_->call().ipc_close(allocation_);
}

}  // namespace assay::cuda
