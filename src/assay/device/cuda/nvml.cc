#include "assay/device/cuda/nvml.h"

#include <array>

#include <fmt/format.h>

#include "assay/base/dynamic_library.h"
#include "assay/base/text.h"

namespace assay::cuda {
namespace {

using Code = int;
using Handle = struct HandleTag*;

constexpr Code kSuccess = 0, kNotFound = 6, kInsufficientSize = 7;
constexpr int kSmClock = 1, kMemoryClock = 2;
constexpr int kOnDie = 0;

struct ProcessInfo {
  unsigned pid;
  unsigned long long memory_bytes;
  unsigned gpu_instance, compute_instance;
};

// Required first; what an older library lacks stays null.
struct Table {
  Code (*init)() = nullptr;
  const char* (*error_string)(Code) = nullptr;
  Code (*handle_by_uuid)(const char*, Handle*) = nullptr;
  Code (*driver_version)(char*, unsigned) = nullptr;
  Code (*clock)(Handle, int, unsigned*) = nullptr;
  Code (*most_clock)(Handle, int, unsigned*) = nullptr;
  Code (*power)(Handle, unsigned*) = nullptr;
  Code (*power_limit)(Handle, unsigned*) = nullptr;
  Code (*energy)(Handle, unsigned long long*) = nullptr;
  Code (*temperature)(Handle, int, unsigned*) = nullptr;
  Code (*throttle)(Handle, unsigned long long*) = nullptr;
  Code (*processes)(Handle, unsigned*, ProcessInfo*) = nullptr;
};

class LoadedNvml final : public Nvml {
 public:
  explicit LoadedNvml(DynamicLibrary library) : library_(std::move(library)) {}

  Status initialise() {
    ASSAY_TRY(library_.load("nvmlInit_v2", call_.init));
    ASSAY_TRY(library_.load("nvmlErrorString", call_.error_string));
    ASSAY_TRY(library_.load("nvmlDeviceGetHandleByUUID", call_.handle_by_uuid));
    (void)library_.load("nvmlSystemGetDriverVersion", call_.driver_version);
    (void)library_.load("nvmlDeviceGetClockInfo", call_.clock);
    (void)library_.load("nvmlDeviceGetMaxClockInfo", call_.most_clock);
    (void)library_.load("nvmlDeviceGetPowerUsage", call_.power);
    (void)library_.load("nvmlDeviceGetEnforcedPowerLimit", call_.power_limit);
    (void)library_.load("nvmlDeviceGetTotalEnergyConsumption", call_.energy);
    (void)library_.load("nvmlDeviceGetTemperature", call_.temperature);
    (void)library_.load("nvmlDeviceGetCurrentClocksThrottleReasons", call_.throttle);
    (void)library_.load("nvmlDeviceGetComputeRunningProcesses_v3", call_.processes);
    return check(call_.init(), "initialising it");
  }

  std::string driver_version() const override {
    char text[96] = {};
    if (call_.driver_version == nullptr || call_.driver_version(text, sizeof text - 1) != kSuccess)
      return {};
    return sanitize(text, sizeof text);
  }

  Result<GpuState> state(const std::string& uuid) const override {
    ASSAY_TRY(const Handle gpu, handle(uuid));
    GpuState state;
    unsigned value = 0;
    unsigned long long wide = 0;
    const auto told = [&](auto* function, auto... arguments) {
      return function != nullptr && function(gpu, arguments...) == kSuccess;
    };
    if (told(call_.clock, kSmClock, &value)) state.sm_mhz = static_cast<int>(value);
    if (told(call_.clock, kMemoryClock, &value)) state.memory_mhz = static_cast<int>(value);
    if (told(call_.most_clock, kSmClock, &value)) state.most_sm_mhz = static_cast<int>(value);
    if (told(call_.power, &value)) state.watts = value * 1e-3;
    if (told(call_.power_limit, &value)) state.limit_watts = value * 1e-3;
    if (told(call_.energy, &wide)) state.joules = static_cast<double>(wide) * 1e-3;
    if (told(call_.temperature, kOnDie, &value)) state.celsius = static_cast<int>(value);
    if (told(call_.throttle, &wide)) state.throttle_bits = wide;
    return state;
  }

  Result<std::vector<GpuProcess>> others(const std::string& uuid, int self) const override {
    ASSAY_TRY(const Handle gpu, handle(uuid));
    if (call_.processes == nullptr) return std::vector<GpuProcess>();
    std::vector<ProcessInfo> list(64);
    Code code = kInsufficientSize;
    // Processes come and go between the calls.
    for (int attempt = 0; attempt < 4 && code == kInsufficientSize; ++attempt) {
      auto count = static_cast<unsigned>(list.size());
      code = call_.processes(gpu, &count, list.data());
      list.resize(code == kInsufficientSize ? list.size() * 4 : count);
    }
    std::vector<GpuProcess> found;
    if (code != kSuccess) return found;
    for (const ProcessInfo& info : list)
      if (static_cast<int>(info.pid) != self)
        found.push_back({static_cast<int>(info.pid), info.memory_bytes});
    return found;
  }

 private:
  Status check(Code code, std::string_view doing) const {
    if (code == kSuccess) return {};
    const char* text = call_.error_string == nullptr ? nullptr : call_.error_string(code);
    return fail(code == kNotFound ? ErrorCode::not_found : ErrorCode::unsupported,
                "NVML, {}: {} (code {})", doing, text == nullptr ? "an error" : text, code);
  }

  Result<Handle> handle(const std::string& uuid) const {
    Handle gpu = nullptr;
    ASSAY_TRY(check(call_.handle_by_uuid(uuid.c_str(), &gpu),
                    fmt::format("looking for GPU {}", sanitize(uuid, 100))));
    return gpu;
  }

  DynamicLibrary library_;
  Table call_;
};

}  // namespace

std::vector<std::string> throttle_reasons(uint64_t bits) {
  struct Reason {
    uint64_t bit;
    const char* name;
  };
  static constexpr std::array kReasons = {
      Reason{0x4, "power cap"},
      Reason{0x8, "hardware slowdown"},
      Reason{0x10, "sync boost"},
      Reason{0x20, "thermal, by software"},
      Reason{0x40, "thermal, by hardware"},
      Reason{0x80, "power brake"},
  };
  std::vector<std::string> reasons;
  for (const Reason& reason : kReasons)
    if ((bits & reason.bit) != 0) reasons.emplace_back(reason.name);
  return reasons;
}

Result<std::shared_ptr<const Nvml>> Nvml::open(const std::string& path) {
  auto library = DynamicLibrary::open(path.empty() ? "libnvidia-ml.so.1" : path,
                                      {.deep_bind = false, .keep_mapped = true});
  if (!library)
    return fail(ErrorCode::unsupported, "no NVML: {}; it comes with the GPU's driver package",
                library.error().message);
  auto nvml = std::make_shared<LoadedNvml>(std::move(*library));
  if (Status ready = nvml->initialise(); !ready) {
    ready.error().code = ErrorCode::unsupported;
    return fail(std::move(ready).error());
  }
  return nvml;
}

}  // namespace assay::cuda
