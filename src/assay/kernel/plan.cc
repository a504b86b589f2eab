#include "assay/kernel/plan.h"

#include <cstdint>

namespace assay {

Status Plan::launch(Stream&, Dependency dependency) noexcept {
  if (dependency == Dependency::programmatic && !dependent_launch_) {
    return fail(ErrorCode::unsupported, "this kernel does not declare dependent launch");
  }
  if (steps_.empty()) return fail(ErrorCode::invalid_input, "an empty plan cannot be launched");
  for (const Step& step : steps_) {
    const HostStep& host = *std::get_if<HostStep>(&step);
    if (const int code = host.function(host.state.get(), data_.data()); code != 0) {
      return fail(ErrorCode::failed, "the kernel reported code {}", code);
    }
  }
  return {};
}

Status Plan::rebind(std::span<void* const> data) noexcept {
  if (data.size() != promises_.size()) {
    return fail(ErrorCode::invalid_input, "{} pointers given for {} operands", data.size(),
                promises_.size());
  }
  for (size_t i = 0; i < data.size(); ++i) {
    if (promises_[i].fixed && data[i] != data_[i]) {
      return fail(ErrorCode::invalid_input, "operand {} was prepared and cannot move", i);
    }
    const auto address = reinterpret_cast<uintptr_t>(data[i]);
    if (address == 0 || address % promises_[i].alignment != 0) {
      return fail(ErrorCode::invalid_input,
                  "operand {} is promised {}-byte alignment, but lies at {}", i,
                  promises_[i].alignment, data[i]);
    }
  }
  for (size_t i = 0; i < data.size(); ++i) data_[i] = data[i];
  return {};
}

}  // namespace assay
