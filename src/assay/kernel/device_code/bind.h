#pragma once

// Device code that a user brings, whoever compiled it: from an entry's launch expressions and args
// to a device step.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/device/cuda/cuda_device.h"
#include "assay/kernel/argument_value.h"
#include "assay/kernel/family.h"

namespace assay::device_code {

struct Geometry {
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1}, cluster = {1, 1, 1};
  uint32_t shared_bytes = 0;
};

// Why a GPU cannot be launched so; empty where it can. Limits are those of every GPU that we
// know: 2^31-1 and 65535 blocks, 1024 threads, clusters of 16 that divide the grid.
std::string objection(const Geometry& geometry);

// The driver's codes for a tensor map: of the element type, the swizzle and the promotion. Nothing
// where no map has such elements.
struct MapCodes {
  int type = 0, swizzle = 0, promotion = 0;
};
std::optional<MapCodes> codes_of(const TensorMapShape& shape);

// Why a GPU's copy engine cannot see an operand so; empty where it can. Source: CUDA driver API,
// cuTensorMapEncodeTiled.
std::string objection(const TensorMapShape& shape);

// The step of a function of `image` (a cubin, or PTX ending in NUL). Parameters are passed as wide
// as the function was compiled to take them: 4 or 8 bytes of integers, float or double, 128
// of a tensor map. Errors:
// failed where args and the function disagree, or a size does not fit; the loader's.
Result<DeviceStep> bind(Device& device, std::span<const std::byte> image, const std::string& symbol,
                        const Geometry& geometry, const std::vector<ArgumentValue>& parameters);

}  // namespace assay::device_code
