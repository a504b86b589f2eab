#include "assay/device/cuda/driver.h"

#include <fmt/format.h>

namespace assay::cuda {

bool is_sticky(abi::Result code) {
  switch (code) {
    case abi::kDeviceUnavailable:
    case abi::kEccUncorrectable:
    case abi::kIllegalAddress:
    case abi::kLaunchTimeout:
    case abi::kAssert:
    case abi::kHardwareStackError:
    case abi::kIllegalInstruction:
    case abi::kMisalignedAddress:
    case abi::kInvalidAddressSpace:
    case abi::kInvalidPc:
    case abi::kLaunchFailed:
    case abi::kUnknown:
      return true;
    default:
      return false;
  }
}

Result<std::shared_ptr<const Driver>> Driver::open(const std::string& path) {
  auto library = DynamicLibrary::open(path.empty() ? "libcuda.so.1" : path,
                                      {.deep_bind = false, .keep_mapped = true});
  if (!library)
    return fail(ErrorCode::unsupported,
                "no CUDA driver: {}; it comes with the GPU's driver package (in a container: run "
                "it with the GPU passed through)",
                library.error().message);
  std::shared_ptr<Driver> driver(new Driver(std::move(*library)));
  ASSAY_TRY(driver->initialise());
  return driver;
}

Status Driver::initialise() {
#define ASSAY_CUDA_LOAD(member, symbol, parameters)                       \
  if (const Status loaded = library_.load(symbol, call_.member); !loaded) \
    return fail(ErrorCode::unsupported,                                   \
                "the CUDA driver {} has no {}: assay needs that of "      \
                "CUDA 12.4 or later; install a newer driver",             \
                library_.path(), symbol);
  ASSAY_CUDA_ENTRY_POINTS(ASSAY_CUDA_LOAD)
#undef ASSAY_CUDA_LOAD
  if (const abi::Result code = call_.init(0); code != abi::kSuccess) {
    const std::string why = check(code, "initialising it").error().message;
    return fail(ErrorCode::unsupported, "the CUDA driver {} cannot be used: {}{}", library_.path(),
                why,
                code == abi::kSystemDriverMismatch
                    ? "; its library and kernel module differ: restart the machine"
                : code == abi::kNoDevice ? "; CUDA_VISIBLE_DEVICES may hide the GPUs"
                                         : "");
  }
  ASSAY_TRY(check(call_.driver_version(&version_), "reading the driver's version"));
  ASSAY_TRY(check(call_.device_count(&device_count_), "counting GPUs"));
  if (device_count_ == 0)
    return fail(ErrorCode::unsupported,
                "the CUDA driver {} sees no GPU; CUDA_VISIBLE_DEVICES may hide them",
                library_.path());
  return {};
}

Status Driver::check(abi::Result code, std::string_view doing) const {
  if (code == abi::kSuccess) return {};
  const char* name = nullptr;
  const char* text = nullptr;
  if (call_.error_name == nullptr || call_.error_name(code, &name) != abi::kSuccess) name = nullptr;
  if (call_.error_text == nullptr || call_.error_text(code, &text) != abi::kSuccess) text = nullptr;
  ErrorCode kind = ErrorCode::failed;
  if (code == abi::kOutOfMemory) kind = ErrorCode::machine;
  if (code == abi::kNoDevice || is_sticky(code)) kind = ErrorCode::device_lost;
  if (code == abi::kNoBinaryForGpu || code == abi::kInvalidPtx ||
      code == abi::kUnsupportedPtxVersion)
    kind = ErrorCode::unsupported;
  return tl::unexpected<Error>(
      Error{kind, fmt::format("{}: {} ({})", doing, name != nullptr ? name : std::to_string(code),
                              text != nullptr ? text : "an error that the driver does not name")});
}

Status Driver::profile(bool begins) const {
  const char* const symbol = begins ? "cuProfilerStart" : "cuProfilerStop";
  abi::Result (*entry)() = nullptr;
  if (const Status loaded = library_.load(symbol, entry); !loaded)
    return fail(ErrorCode::unsupported, "the CUDA driver {} has no {}", library_.path(), symbol);
  return check(entry(), begins ? "beginning to profile" : "ending to profile");
}

std::string Driver::version_text() const {
  return fmt::format("{}.{}", version_ / 1000, version_ % 1000 / 10);
}

}  // namespace assay::cuda
