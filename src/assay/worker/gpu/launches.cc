#include "assay/worker/gpu/launches.h"

namespace assay::sweep {

std::vector<GpuLaunchFacts> launches_of(const cuda::CudaDevice& device,
                                        std::span<const Step> steps) {
  const cuda::abi::EntryPoints& call = device.driver()->call();
  cuda::abi::Device gpu = 0;
  int most_threads = 0;
  if (call.device_get(&gpu, device.gpu().ordinal) != cuda::abi::kSuccess ||
      call.device_attribute(&most_threads, cuda::abi::kMostThreadsPerMultiprocessor, gpu) !=
          cuda::abi::kSuccess)
    most_threads = 0;
  std::vector<GpuLaunchFacts> launches;
  for (const Step& step : steps) {
    const auto* code = std::get_if<DeviceStep>(&step);
    if (code == nullptr) continue;
    auto* const function = static_cast<cuda::abi::Function>(code->function);
    const auto attribute = [&](int name) {
      int value = 0;
      return call.function_attribute(&value, name, function) == cuda::abi::kSuccess ? value : 0;
    };
    const auto product = [](const std::array<uint32_t, 3>& extent) {
      return int64_t{extent[0]} * extent[1] * extent[2];
    };
    GpuLaunchFacts launch{
        .blocks = product(code->grid),
        .threads = product(code->block),
        .cluster_blocks = product(code->cluster),
        .registers = attribute(cuda::abi::kRegisters),
        .local_bytes = attribute(cuda::abi::kLocalBytes),
        .shared_bytes = attribute(cuda::abi::kStaticSharedBytes) + int64_t{code->shared_bytes},
        .resident_blocks = 0,
        .multiprocessors = device.multiprocessors(),
        .most_threads = most_threads};
    int blocks = 0;
    if (call.active_blocks(&blocks, function, static_cast<int>(launch.threads),
                           code->shared_bytes) == cuda::abi::kSuccess)
      launch.resident_blocks = blocks;
    launches.push_back(launch);
  }
  return launches;
}

}  // namespace assay::sweep
