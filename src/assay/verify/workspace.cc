#include "assay/verify/workspace.h"

namespace assay::verify {

Result<size_t> workspace_bytes(const Kernel& kernel, const Problem& problem, int threads,
                               const Device& device) {
  const size_t bytes = kernel.workspace_bytes(problem, threads);
  // Operands, and a second workspace for timing, need room beside it.
  const auto most = static_cast<size_t>(device.memory_bytes()) / 4;
  if (device.memory_bytes() > 0 && bytes > most)
    return fail(ErrorCode::unsupported,
                "asks for a workspace of {} bytes; a quarter of the device's memory, {} bytes, is "
                "the most",
                bytes, most);
  return bytes;
}

}  // namespace assay::verify
