#include "assay/kernel/device_code/launch.h"

#include <type_traits>

#include "assay/kernel/device_code/bind.h"

namespace assay::device_code {
namespace {

ArgumentValue argument(const std::variant<GpuLaunch::Place, int64_t, double>& value) {
  return std::visit(
      [](const auto& one) -> ArgumentValue {
        using One = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<One, int64_t>)
          return {.name = "number", .kind = ArgumentValue::Kind::integer, .integer = one};
        else if constexpr (std::is_same_v<One, double>)
          return {.name = "number", .kind = ArgumentValue::Kind::real, .real = one};
        else
          return {.name = "data", .place = static_cast<int>(one.of)};
      },
      value);
}

}  // namespace

Result<DeviceStep> bind(Device& device, const GpuLaunch& launch) {
  Geometry geometry;
  geometry.grid = launch.grid;
  geometry.block = launch.block;
  std::vector<ArgumentValue> arguments;
  for (const auto& value : launch.arguments) arguments.push_back(argument(value));
  // With the zero behind the text.
  return device_code::bind(device,
                           std::as_bytes(std::span(launch.text.data(), launch.text.size() + 1)),
                           launch.entry, geometry, arguments);
}

}  // namespace assay::device_code
