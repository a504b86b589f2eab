#include "cli/flags/choose_device.h"

#include <algorithm>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/device/cuda/selection.h"
#include "assay/kernel/taker.h"

namespace assay::cli {

GpuList list_gpus() {
  GpuList list;
  const auto driver = cuda::Driver::open();
  if (!driver) {
    list.why_none = driver.error().message;
  } else if (auto gpus = cuda::list_gpus(**driver)) {
    list.gpus = std::move(*gpus);
  } else {
    list.why_none = gpus.error().message;
  }
  return list;
}

Json gpus_json(const GpuList& list) {
  Json gpus = Json::array();
  for (const cuda::Gpu& gpu : list.gpus)
    gpus.push_back({{"index", gpu.ordinal},
                    {"uuid", gpu.uuid},
                    {"name", gpu.name},
                    {"pci_bus_id", gpu.pci_bus_id},
                    {"target", cuda::target_of(gpu).to_string()},
                    {"memory_bytes", gpu.memory_bytes}});
  return gpus;
}

Result<std::string> choose_device(const std::string& wanted) {
  if (wanted.empty() || wanted == "cpu") return std::string();
  const GpuList list = list_gpus();
  ASSAY_TRY(const int index, cuda::choose_device(wanted, list.gpus, list.why_none));
  return index < 0 ? std::string() : list.gpus[static_cast<size_t>(index)].uuid;
}

namespace {

// "cutlass" of "cutlass/128x128x64_...", as run and why are told.
std::string_view provider_of(std::string_view word) { return word.substr(0, word.find('/')); }

}  // namespace

Result<std::string> device_for(const Result<std::vector<input::KernelSource>>& files,
                               const std::vector<std::string>& named) {
  const auto providers = built_in_providers();
  std::string of_a_gpu;
  for (const std::string& word : named) {
    const auto found = std::ranges::find_if(providers, [&](const auto& provider) {
      return provider->info().name == provider_of(word);
    });
    if (found == providers.end()) return std::string();
    const ProviderInfo& info = (*found)->info();
    if (info.on_gpu)
      of_a_gpu = fmt::format("{} has kernels", info.name);
    else if (info.role != ProviderRole::user)  // Else its files decide.
      return std::string();
  }
  if (!files) return std::string();
  for (const input::KernelSource& file : *files) {
    for (const KernelEntry& entry : file.entries) {
      const Provider* const taker = find_taker(providers, entry);
      if (taker == nullptr || !is_for_gpu(*taker, entry)) return std::string();
      of_a_gpu = fmt::format("{} is code", sanitize(files->front().text(), 300));
    }
  }
  if (of_a_gpu.empty()) return std::string();
  auto gpu = choose_device("gpu");
  if (!gpu)
    gpu.error().message = fmt::format(
        "{} for a GPU: {}; `assay race FILE --target sm_90a` and `assay kernels --compile` "
        "compile "
        "for one that is elsewhere",
        of_a_gpu, gpu.error().message);
  return gpu;
}

}  // namespace assay::cli
