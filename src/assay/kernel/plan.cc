#include "assay/kernel/plan.h"

#include <algorithm>

namespace assay {
namespace {

template <class AnyStep>
Status reported(int code, const AnyStep& step) {
  if (code == 0) return {};
  const std::string why = step.reason == nullptr ? "" : step.reason(step.state.get());
  return fail(ErrorCode::failed, "the kernel reported code {}{}{}", code, why.empty() ? "" : ": ",
              why);
}

}  // namespace

Status Plan::launch(Stream& stream, Dependency dependency) noexcept {
  if (dependency == Dependency::programmatic && !dependent_launch_) {
    return fail(ErrorCode::unsupported, "this kernel does not declare dependent launch");
  }
  if (steps_.empty()) return fail(ErrorCode::invalid_input, "an empty plan cannot be launched");
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (const auto* host = std::get_if<HostStep>(&steps_[i])) {
      ASSAY_TRY(reported(host->function(host->state.get(), data_.data()), *host));
    } else if (const auto* enqueue = std::get_if<StreamStep>(&steps_[i])) {
      ASSAY_TRY(reported(enqueue->function(enqueue->state.get(), data_.data(), stream.native()),
                         *enqueue));
    } else {
      const DeviceStep& step = *std::get_if<DeviceStep>(&steps_[i]);
      // Only the first may begin early: the others follow steps of their own plan.
      ASSAY_TRY(stream.launch({.function = step.function,
                               .grid = step.grid,
                               .block = step.block,
                               .cluster = step.cluster,
                               .shared_bytes = step.shared_bytes,
                               .parameters = parameters_[i],
                               .programmatic = dependency == Dependency::programmatic && i == 0}));
    }
  }
  return {};
}

Status Plan::fill_parameters() {
  parameters_.resize(steps_.size());
  for (size_t i = 0; i < steps_.size(); ++i) {
    auto* step = std::get_if<DeviceStep>(&steps_[i]);
    if (step == nullptr) continue;
    parameters_[i].clear();
    for (DeviceParameter& parameter : step->parameters) {
      if (parameter.place >= static_cast<int>(data_.size()))
        return fail(ErrorCode::failed, "a parameter names pointer {} of {}", parameter.place,
                    data_.size());
      if (parameter.place >= 0) {
        void* const pointer = data_[static_cast<size_t>(parameter.place)];
        if (parameter.encode) {
          if (const int code = parameter.encode(pointer, parameter.bytes); code != 0)
            return fail(ErrorCode::failed, "a tensor map cannot be made: the driver reported {}",
                        code);
        } else {
          std::memcpy(parameter.bytes.data(), &pointer, sizeof pointer);
        }
      }
      parameters_[i].push_back(parameter.bytes.data());
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
  const bool on_device = std::ranges::any_of(
      steps_, [](const Step& step) { return std::holds_alternative<DeviceStep>(step); });
  if (!on_device) {
    std::copy(data.begin(), data.end(), data_.begin());
    return {};
  }
  const std::vector<void*> before(data_.begin(),
                                  data_.begin() + static_cast<std::ptrdiff_t>(data.size()));
  std::copy(data.begin(), data.end(), data_.begin());
  if (Status filled = fill_parameters(); !filled) {
    std::copy(before.begin(), before.end(), data_.begin());
    (void)fill_parameters();  // As they were: it worked then.
    return filled;
  }
  return {};
}

}  // namespace assay
