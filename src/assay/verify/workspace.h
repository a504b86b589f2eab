#pragma once

#include "assay/base/result.h"
#include "assay/device/device.h"
#include "assay/kernel/kernel.h"

namespace assay::verify {

// The bytes that a kernel asks for; unsupported, with their number, where so many cannot be had.
Result<size_t> workspace_bytes(const Kernel& kernel, const Problem& problem, int threads,
                               const Device& device);

}  // namespace assay::verify
