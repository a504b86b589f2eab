#include "assay/device/cuda/selection.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/base/visible_gpus.h"

namespace assay::cuda {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& letter : out)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return out;
}

std::string list_of(std::span<const Gpu> gpus, std::string_view why_none) {
  if (gpus.empty())
    return fmt::format("there is no GPU{}{}", why_none.empty() ? "" : ": ", why_none);
  std::vector<std::string> lines;
  for (const Gpu& gpu : gpus) lines.push_back(gpu_line(gpu));
  return "the GPUs are " + join(lines, "; ");
}

}  // namespace

std::string gpu_line(const Gpu& gpu) {
  return fmt::format("{}: {}, {}, {}", gpu.ordinal, gpu.name, gpu.uuid,
                     format_bytes(static_cast<double>(gpu.memory_bytes)));
}

Result<std::unique_ptr<CudaDevice>> open_pinned(const std::string& driver_path,
                                                const std::string& uuid) {
  ASSAY_TRY(const auto driver, Driver::open(driver_path));
  ASSAY_TRY(const auto gpus, list_gpus(*driver));
  const auto gpu = std::ranges::find(gpus, uuid, &Gpu::uuid);
  if (gpu == gpus.end()) return fail(ErrorCode::device_lost, "GPU {} is no longer there", uuid);
  if (gpus.size() > 1)
    return fail(ErrorCode::machine,
                "the CUDA driver {} shows {} GPUs where {} names {} alone; something between "
                "assay and it changes that variable",
                driver->path(), gpus.size(), kVisibleGpus, uuid);
  return open(driver, *gpu);
}

Result<int> choose_device(std::string_view wanted, std::span<const Gpu> gpus,
                          std::string_view why_none) {
  constexpr size_t kLeastUuid = 4 + 8;  // "GPU-" or "MIG-" and 8 digits.
  const std::string text = lower(wanted);
  const auto wrong = [&](std::string_view why) {
    return fail(ErrorCode::invalid_input, "--device {}: {}; {}", sanitize(wanted, 100), why,
                list_of(gpus, why_none));
  };
  if (text.empty()) return wrong("is empty; give cpu, gpu, an index, a UUID or a name");
  if (text == "cpu") return -1;
  if (gpus.empty()) return wrong("cannot be had");
  if (text == "gpu") return 0;
  int index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error == std::errc() && end == text.data() + text.size()) {
    for (size_t i = 0; i < gpus.size(); ++i)
      if (gpus[i].ordinal == index) return static_cast<int>(i);
    return wrong("there is no GPU of that index");
  }
  std::vector<int> found;
  const bool by_uuid = text.starts_with("gpu-") || text.starts_with("mig-");
  if (by_uuid && text.size() < kLeastUuid)
    return wrong("is too short for a UUID's beginning; give at least 8 digits");
  for (size_t i = 0; i < gpus.size(); ++i) {
    const bool matches = by_uuid ? lower(gpus[i].uuid).starts_with(text)
                                 : lower(gpus[i].name).find(text) != std::string::npos;
    if (matches) found.push_back(static_cast<int>(i));
  }
  if (found.empty()) return wrong("names no GPU");
  if (found.size() > 1)
    return wrong(fmt::format("names {} GPUs; give the index or the UUID of one", found.size()));
  return found.front();
}

}  // namespace assay::cuda
