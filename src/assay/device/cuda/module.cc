#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/device/cuda/cuda_device.h"

namespace assay::cuda {

Result<std::shared_ptr<const Module>> Module::load(std::shared_ptr<const Driver> driver,
                                                   std::span<const std::byte> image) {
  if (image.empty()) return fail(ErrorCode::unsupported, "device code of no bytes");
  std::shared_ptr<Module> module(new Module(std::move(driver)));
  const bool elf = image.size() >= 4 && std::memcmp(image.data(),
                                                    "\x7f"
                                                    "ELF",
                                                    4) == 0;
  if (!elf && image.back() != std::byte{0})
    return fail(ErrorCode::internal, "PTX text has to end in a NUL");
  constexpr size_t kLogBytes = 8192;
  char log[kLogBytes] = {};
  int names[] = {abi::kJitErrorLogBuffer, abi::kJitErrorLogBytes};
  void* values[] = {log, reinterpret_cast<void*>(kLogBytes)};
  const abi::Result code =
      module->driver_->call().module_load(&module->module_, image.data(), 2, names, values);
  if (code == abi::kSuccess) return module;
  Error error = module->driver_->check(code, "loading device code").error();
  log[kLogBytes - 1] = '\0';
  if (const std::string said = sanitize(log, 2000); !said.empty()) error.message += "; " + said;
  if (code == abi::kInvalidPtx) error.code = ErrorCode::build_failed;
  return fail(std::move(error));
}

Module::~Module() {
  if (module_ != nullptr) (void)driver_->call().module_unload(module_);
}

Result<Module::Function> Module::function(const std::string& name, size_t shared_bytes,
                                          bool big_clusters) const {
  const abi::EntryPoints& call = driver_->call();
  Function function;
  if (const abi::Result code = call.module_function(&function.handle, module_, name.c_str());
      code != abi::kSuccess) {
    Error error = driver_->check(code, fmt::format("looking for {}", sanitize(name, 300))).error();
    if (code == abi::kNotFound) error.code = ErrorCode::not_found;
    return fail(std::move(error));
  }
  const auto read = [&](int attribute, int& value) {
    return driver_->check(call.function_attribute(&value, attribute, function.handle),
                          "reading what a kernel needs");
  };
  ASSAY_TRY(read(abi::kRegisters, function.registers));
  ASSAY_TRY(read(abi::kLocalBytes, function.local_bytes));
  ASSAY_TRY(read(abi::kStaticSharedBytes, function.static_shared_bytes));
  ASSAY_TRY(read(abi::kMostThreadsPerBlock, function.most_threads));
  for (size_t offset = 0, bytes = 0;
       call.function_parameter(function.handle, function.parameter_bytes.size(), &offset, &bytes) ==
       abi::kSuccess;)
    function.parameter_bytes.push_back(bytes);
  const auto set = [&](int attribute, int value, const std::string& doing) -> Status {
    const abi::Result code = call.set_function_attribute(function.handle, attribute, value);
    if (code == abi::kSuccess) return {};
    Error error = driver_->check(code, doing).error();
    if (code == abi::kInvalidValue) error.code = ErrorCode::unsupported;
    return fail(std::move(error));
  };
  constexpr size_t kWithoutAsking = 48 << 10;
  if (shared_bytes + static_cast<size_t>(function.static_shared_bytes) > kWithoutAsking)
    ASSAY_TRY(set(abi::kMostDynamicSharedBytes,
                  static_cast<int>(std::min<size_t>(shared_bytes, 1 << 30)),
                  fmt::format("asking for {} bytes of dynamic shared memory", shared_bytes)));
  if (big_clusters)
    ASSAY_TRY(set(abi::kNonPortableClusters, 1, "asking for clusters of more than 8 blocks"));
  return function;
}

}  // namespace assay::cuda
