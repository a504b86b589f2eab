#include "assay/record/gpu_profile.h"

namespace assay {

std::optional<double> ProfiledKernel::at(std::string_view metric) const {
  const auto found = metrics.find(std::string(metric));
  return found == metrics.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> GpuProfile::sum(std::string_view metric) const {
  if (kernels.empty()) return std::nullopt;
  double total = 0;
  for (const ProfiledKernel& kernel : kernels) {
    const auto value = kernel.at(metric);
    if (!value) return std::nullopt;
    total += *value;
  }
  return total;
}

std::optional<double> GpuProfile::mean(std::string_view metric) const {
  if (kernels.size() == 1) return kernels.front().at(metric);
  double weighted = 0, total = 0;
  for (const ProfiledKernel& kernel : kernels) {
    const auto value = kernel.at(metric), time = kernel.at(metric::kNanoseconds);
    if (!value || !time) return std::nullopt;
    weighted += *value * *time;
    total += *time;
  }
  return total > 0 ? std::optional(weighted / total) : std::nullopt;
}

}  // namespace assay
