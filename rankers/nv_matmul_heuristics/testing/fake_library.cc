// A library with nvMatmulHeuristics' C interface. It knows the GPU 9003, proposes 128x256 in
// clusters of 2x1 and then 64x64 alone, and 64x128 with k in three parts; estimates are the tile's
// size in nanoseconds, and there is none of a tile of 96 rows. Layouts other than row-major with a
// turned b ("tn") have the two proposals in the other order.

#include <cstdlib>
#include <cstring>

#include "rankers/nv_matmul_heuristics/abi.h"

namespace abi = assay::nv_matmul_heuristics::abi;

namespace {
int live = 0;  // Descriptors.
}  // namespace

extern "C" {

int fake_live_objects() { return live; }

abi::Status nvMatmulHeuristicsCreate(abi::Handle* handle) {
  *handle = &live;
  return abi::kSuccess;
}
// As the real one does where there is no driver.
abi::Status nvMatmulHeuristicsDestroy(abi::Handle*) { std::abort(); }
unsigned nvMatmulHeuristicsGetVersionString(char* text, unsigned size) {
  std::strncpy(text, "0.1.fake", size);
  return 9;
}
abi::Status nvMatmulHeuristicsHardwareDescriptorCreate(abi::HardwareDescriptor* gpu) {
  *gpu = new unsigned(0);
  ++live;
  return abi::kSuccess;
}
abi::Status nvMatmulHeuristicsHardwareDescriptorDestroy(abi::HardwareDescriptor* gpu) {
  delete static_cast<unsigned*>(*gpu);
  *gpu = nullptr;
  --live;
  return abi::kSuccess;
}
abi::Status nvMatmulHeuristicsHardwareDescriptorSetPredefinedGpu(abi::HardwareDescriptor gpu,
                                                                 unsigned number) {
  *static_cast<unsigned*>(gpu) = number;
  return number == 9003 ? abi::kSuccess : 4;
}
abi::Status nvMatmulHeuristicsLoadInternalDiscoverySet(abi::Handle, const char*, int, int,
                                                       abi::HardwareDescriptor) {
  return 2;  // Not all of it is there: no reason to stop.
}
unsigned nvMatmulHeuristicsGetGemmConfig(abi::Handle, const char* precision, unsigned, int target,
                                         const abi::Problem* problem, abi::Configuration* out,
                                         unsigned most, abi::HardwareDescriptor) {
  if (std::strcmp(precision, "HSH") != 0 || target != abi::kTargetCutlass3 || most < 3) return 0;
  const bool turned = problem->layout != abi::kOtherB;
  out[turned ? 1 : 0] = {.block = {128, 256, 64}, .split_k = 1, .stages = 4, .cluster = {2, 1}};
  out[turned ? 0 : 1] = {.block = {64, 64, 64}, .split_k = 1, .stages = 8, .cluster = {1, 1}};
  out[2] = {.block = {64, 128, 64}, .split_k = 3, .stages = 7, .cluster = {1, 1}};
  return 3;
}
double nvMatmulHeuristicsEstimateRuntime(abi::Handle, const char*, int, const abi::Problem*,
                                         const abi::Configuration* configuration,
                                         abi::HardwareDescriptor) {
  if (configuration->block[0] == 96) return -1;
  return 1e-9 * configuration->block[0] * configuration->block[1];
}
}
