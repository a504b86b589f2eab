#include "assay/sweep/worker_rotation.h"

#include <algorithm>

namespace assay::sweep {

size_t count_outputs(size_t sets, size_t output_bytes, size_t most_bytes) {
  size_t count = std::clamp(most_bytes / std::max<size_t>(output_bytes, 1), kLeastOutputs,
                            std::max(kLeastOutputs, sets));
  while (sets % count != 0) --count;
  return count;
}

bool is_dense(const Operand& operand) {
  size_t elements = 1;
  for (const int64_t size : operand.sizes) elements *= static_cast<size_t>(size);
  return elements * static_cast<size_t>(size_bytes(operand.dtype)) ==
         static_cast<size_t>(operand.span_bytes);
}

}  // namespace assay::sweep
