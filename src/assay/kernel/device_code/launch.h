#pragma once

// A launch that an operation says as data (op/last_part.h), as a step of a plan.

#include "assay/kernel/family.h"
#include "assay/op/last_part.h"

namespace assay::device_code {

Result<DeviceStep> bind(Device& device, const GpuLaunch& launch);

}  // namespace assay::device_code
