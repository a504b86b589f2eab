#include "assay/kernel/device_code/bind.h"

#include <bit>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "assay/base/hash.h"
#include "assay/base/text.h"

namespace assay::device_code {
namespace {

// A plan for each of many operand sets: the code is loaded once.
class Modules {
 public:
  Result<std::shared_ptr<const cuda::Module>> get(const std::shared_ptr<const cuda::Driver>& driver,
                                                  std::span<const std::byte> image) {
    const std::string key = sha256_hex(image);
    const std::lock_guard lock(mutex_);
    if (auto found = loaded_[key].lock()) return found;
    ASSAY_TRY(auto module, cuda::Module::load(driver, image));
    loaded_[key] = module;
    return module;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<const cuda::Module>> loaded_;
};

Modules& modules() {
  static Modules all;
  return all;
}

// CUtensorMapDataType, or nothing.
std::optional<int> map_type(DType dtype) {
  switch (dtype) {
    case DType::s8:
      return 0;  // As unsigned bytes: nothing is computed.
    case DType::s32:
      return 3;
    case DType::f16:
      return 6;
    case DType::f32:
      return 7;
    case DType::f64:
      return 8;
    case DType::bf16:
      return 9;
    default:
      return std::nullopt;
  }
}

// Made again whenever the operand's address changes.
DeviceParameter tensor_map(const ArgumentValue& parameter,
                           std::shared_ptr<const cuda::Driver> driver) {
  DeviceParameter made = DeviceParameter::pointer(parameter.place);
  made.encode = [shape = parameter.map, driver = std::move(driver)](void* pointer,
                                                                    std::span<std::byte> bytes) {
    const std::vector<uint64_t> sizes(shape->sizes.begin(), shape->sizes.end());
    const std::vector<uint64_t> steps(shape->step_bytes.begin(), shape->step_bytes.end());
    const std::vector<uint32_t> box(shape->box.begin(), shape->box.end());
    const std::vector<uint32_t> each(box.size(), 1);
    const MapCodes codes = codes_of(*shape).value_or(MapCodes{});
    cuda::abi::TensorMap map{};
    const cuda::abi::Result result = driver->call().encode_tiled(
        &map, codes.type, static_cast<uint32_t>(sizes.size()), pointer, sizes.data(), steps.data(),
        box.data(), each.data(), 0, codes.swizzle, codes.promotion, 0);
    if (result == cuda::abi::kSuccess) std::memcpy(bytes.data(), &map, sizeof map);
    return static_cast<int>(result);
  };
  return made;
}

Result<DeviceParameter> passed(const ArgumentValue& parameter, size_t bytes,
                               const std::shared_ptr<const cuda::Driver>& driver) {
  const auto odd = [&](std::string_view what) {
    return fail(ErrorCode::failed, "the kernel takes {} bytes for {}, which is {}", bytes,
                sanitize(parameter.name, 80), what);
  };
  switch (parameter.kind) {
    case ArgumentValue::Kind::pointer:
      if (bytes != 8) return odd("a pointer of 8");
      return parameter.place < 0 ? DeviceParameter::value<void*>(parameter.address)
                                 : DeviceParameter::pointer(parameter.place);
    case ArgumentValue::Kind::integer:
      if (bytes == 8) return DeviceParameter::value(parameter.integer);
      if (bytes != 4) return odd("an integer of 4 or 8");
      if (parameter.integer > std::numeric_limits<int32_t>::max() ||
          parameter.integer < std::numeric_limits<int32_t>::min())
        return fail(ErrorCode::failed, "{} is {}, and the kernel takes 32 bits of it",
                    sanitize(parameter.name, 80), parameter.integer);
      return DeviceParameter::value(static_cast<int32_t>(parameter.integer));
    case ArgumentValue::Kind::real:
      if (bytes == 8) return DeviceParameter::value(parameter.real);
      if (bytes == 4) return DeviceParameter::value(static_cast<float>(parameter.real));
      return odd("a float or a double");
    case ArgumentValue::Kind::tensor_map:
      if (bytes != sizeof(cuda::abi::TensorMap)) return odd("a tensor map of 128");
      return tensor_map(parameter, driver);
  }
  return odd("nothing that we know");
}

}  // namespace

std::optional<MapCodes> codes_of(const TensorMapShape& shape) {
  const auto type = map_type(shape.dtype);
  if (!type) return std::nullopt;
  // 32, 64, 128 bytes are 1, 2, 3; 64, 128, 256 likewise for promotion.
  const auto code = [](int64_t size, int64_t first) {
    return size == 0 ? 0 : static_cast<int>(std::bit_width(static_cast<uint64_t>(size / first)));
  };
  return MapCodes{*type, code(shape.swizzle, 32), code(shape.promotion, 64)};
}

std::string objection(const Geometry& geometry) {
  constexpr uint32_t kMostX = 0x7fffffff, kMostYz = 65535, kMostThreads = 1024, kMostCluster = 16;
  const auto product = [](const std::array<uint32_t, 3>& extent) {
    return uint64_t{extent[0]} * extent[1] * extent[2];
  };
  for (const auto* extent : {&geometry.grid, &geometry.block, &geometry.cluster})
    if ((*extent)[0] == 0 || (*extent)[1] == 0 || (*extent)[2] == 0)
      return "an extent of the launch is 0";
  if (geometry.grid[0] > kMostX || geometry.grid[1] > kMostYz || geometry.grid[2] > kMostYz)
    return fmt::format("a grid of {} x {} x {} blocks is larger than a GPU takes", geometry.grid[0],
                       geometry.grid[1], geometry.grid[2]);
  if (geometry.block[0] > kMostThreads || geometry.block[1] > kMostThreads ||
      geometry.block[2] > 64 || product(geometry.block) > kMostThreads)
    return fmt::format("a block has {} threads, and 1024 are the most", product(geometry.block));
  if (product(geometry.cluster) > kMostCluster)
    return fmt::format("a cluster has {} blocks, and 16 are the most", product(geometry.cluster));
  for (size_t i = 0; i < 3; ++i)
    if (geometry.grid[i] % geometry.cluster[i] != 0)
      return fmt::format("clusters of {} do not divide a grid of {}", geometry.cluster[i],
                         geometry.grid[i]);
  return {};
}

std::string objection(const TensorMapShape& shape) {
  constexpr int64_t kMostSize = int64_t{1} << 32, kMostStep = int64_t{1} << 40, kMostBox = 256;
  if (!codes_of(shape))
    return fmt::format("no tensor map has elements of {}", to_string(shape.dtype));
  for (size_t i = 0; i < shape.sizes.size(); ++i) {
    if (shape.sizes[i] < 1 || shape.sizes[i] > kMostSize)
      return fmt::format("a tensor map has no dimension of {}", shape.sizes[i]);
    if (shape.box[i] < 1 || shape.box[i] > kMostBox)
      return fmt::format("a tensor map's box has 1 to {} elements each way, not {}", kMostBox,
                         shape.box[i]);
  }
  for (const int64_t step : shape.step_bytes)
    if (step % 16 != 0 || step <= 0 || step >= kMostStep)
      return fmt::format("a tensor map steps by multiples of 16 bytes, not by {}", step);
  const int64_t inner = shape.box[0] * size_bytes(shape.dtype);
  if (inner % 16 != 0)
    return fmt::format("a tensor map's box is {} bytes wide, and takes multiples of 16", inner);
  if (shape.swizzle != 0 && inner > shape.swizzle)
    return fmt::format("a tensor map's box is {} bytes wide, and its swizzle {}", inner,
                       shape.swizzle);
  return {};
}

Result<DeviceStep> bind(Device& device, std::span<const std::byte> image, const std::string& symbol,
                        const Geometry& geometry, const std::vector<ArgumentValue>& parameters) {
  auto* gpu = dynamic_cast<cuda::CudaDevice*>(&device);
  if (gpu == nullptr)
    return fail(ErrorCode::unsupported, "device code runs on a GPU, and this device is none");
  if (const std::string why = objection(geometry); !why.empty())
    return fail(ErrorCode::failed, "{}", why);
  if (geometry.shared_bytes > gpu->most_shared_bytes())
    return fail(ErrorCode::unsupported,
                "{} bytes of dynamic shared memory, and a block has {} here", geometry.shared_bytes,
                gpu->most_shared_bytes());
  ASSAY_TRY(const auto module, modules().get(gpu->driver(), image));
  const uint64_t blocks = uint64_t{geometry.cluster[0]} * geometry.cluster[1] * geometry.cluster[2];
  ASSAY_TRY(const cuda::Module::Function function,
            module->function(symbol, geometry.shared_bytes, blocks > 8));
  if (function.parameter_bytes.size() != parameters.size())
    return fail(ErrorCode::failed, "the kernel takes {} parameters, and args names {}",
                function.parameter_bytes.size(), parameters.size());
  DeviceStep step;
  step.code = module;
  step.function = function.handle;
  step.grid = geometry.grid;
  step.block = geometry.block;
  step.cluster = geometry.cluster;
  step.shared_bytes = geometry.shared_bytes;
  for (size_t i = 0; i < parameters.size(); ++i) {
    ASSAY_TRY(step.parameters.emplace_back(),
              passed(parameters[i], function.parameter_bytes[i], gpu->driver()));
  }
  return step;
}

}  // namespace assay::device_code
