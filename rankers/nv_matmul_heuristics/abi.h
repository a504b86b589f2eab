#pragma once

// What nvMatmulHeuristics' C interface is made of: numbers, structs and names of the package's
// public header (nvidia-matmul-heuristics 0.1.0.27). It is never compiled against, and never
// shipped.

#include <cstdint>

namespace assay::nv_matmul_heuristics::abi {

using Handle = void*;
using HardwareDescriptor = void*;
using Status = int;
inline constexpr Status kSuccess = 1;
inline constexpr int kTargetCutlass3 = 4;

struct Problem {
  uint32_t m, n, k, batch;
  uint8_t layout;
};

struct Configuration {
  uint16_t block[3], warp[3], instruction[3];  // m, n, k.
  uint16_t split_k;
  uint8_t stages, swizzle, order;
  uint8_t cluster[2];
};
static_assert(sizeof(Problem) == 20 && sizeof(Configuration) == 26);

// Layouts: 0 to 3 with a row-major output, 4 to 7 with a column-major one; plus 2 where a, and 1
// where b is stored the other way.
inline constexpr int kColumnMajorOutput = 4, kOtherA = 2, kOtherB = 1;

}  // namespace assay::nv_matmul_heuristics::abi

// X(member, symbol, result, (parameters))
#define ASSAY_NV_MATMUL_HEURISTICS_ENTRY_POINTS(X)                                                \
  X(create, "nvMatmulHeuristicsCreate", abi::Status, (abi::Handle*))                              \
  X(version, "nvMatmulHeuristicsGetVersionString", unsigned, (char*, unsigned))                   \
  X(create_hardware, "nvMatmulHeuristicsHardwareDescriptorCreate", abi::Status,                   \
    (abi::HardwareDescriptor*))                                                                   \
  X(destroy_hardware, "nvMatmulHeuristicsHardwareDescriptorDestroy", abi::Status,                 \
    (abi::HardwareDescriptor*))                                                                   \
  X(set_gpu, "nvMatmulHeuristicsHardwareDescriptorSetPredefinedGpu", abi::Status,                 \
    (abi::HardwareDescriptor, unsigned))                                                          \
  X(load_discovery, "nvMatmulHeuristicsLoadInternalDiscoverySet", abi::Status,                    \
    (abi::Handle, const char*, int, int, abi::HardwareDescriptor))                                \
  X(propose, "nvMatmulHeuristicsGetGemmConfig", unsigned,                                         \
    (abi::Handle, const char*, unsigned, int, const abi::Problem*, abi::Configuration*, unsigned, \
     abi::HardwareDescriptor))                                                                    \
  X(estimate, "nvMatmulHeuristicsEstimateRuntime", double,                                        \
    (abi::Handle, const char*, int, const abi::Problem*, const abi::Configuration*,               \
     abi::HardwareDescriptor))
