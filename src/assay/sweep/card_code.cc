#include "assay/sweep/card_code.h"

#include <algorithm>
#include <span>

namespace assay::sweep {

uint32_t blocks_for(const cuda::CudaDevice& device, size_t items) {
  constexpr size_t kBlocksPerMultiprocessor = 8;  // Of kCodeThreads: all that fit.
  const auto multiprocessors = static_cast<size_t>(std::max(1, device.multiprocessors()));
  return static_cast<uint32_t>(
      std::min(items / kCodeThreads + 1, kBlocksPerMultiprocessor * multiprocessors));
}

std::string code_target(const cuda::Card& card) { return card.major >= 9 ? "sm_90" : "sm_70"; }

Result<std::shared_ptr<const cuda::Module>> load_code(cuda::CudaDevice& device,
                                                      const std::string& ptx) {
  // The driver reads it up to its end: a zero.
  return cuda::Module::load(device.driver(), std::as_bytes(std::span(ptx.c_str(), ptx.size() + 1)));
}

}  // namespace assay::sweep
