#include "nvrtc.h"

#include <filesystem>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "assay/base/compiler.h"
#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/device/cuda/libraries.h"

namespace assay::cuda_source {

// NVRTC brings no standard headers. Elsewhere these types have the same widths.
std::string_view own_header() {
  return R"(#pragma once
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef long intmax_t;
typedef unsigned long uintmax_t;
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::intptr_t; using ::uintptr_t; using ::intmax_t; using ::uintmax_t;
}
)";
}

std::vector<std::string> Nvrtc::candidates(const ProviderSettings& settings) {
  if (const auto given = settings.find("library"); given != settings.end()) return {given->second};
  return cuda::library_candidates({"libnvrtc.so.13", "libnvrtc.so.12"}, "cuda_nvrtc", settings);
}

Result<std::shared_ptr<const Nvrtc>> Nvrtc::open(const ProviderSettings& settings) {
  const auto load = [](const std::string& path) -> Result<std::shared_ptr<const Nvrtc>> {
    ASSAY_TRY(DynamicLibrary library, DynamicLibrary::open(path, {.deep_bind = false}));
    const std::shared_ptr<Nvrtc> nvrtc(new Nvrtc(std::move(library)));
    ASSAY_TRY(nvrtc->load());
    return nvrtc;
  };
  auto found = first_that_loads(candidates(settings), load);
  if (found) return found;
  return fail(ErrorCode::unsupported,
              "{}; install the CUDA toolkit, or nvidia-cuda-nvrtc from PyPI",
              found.error().message);
}

Result<std::shared_ptr<const Nvrtc>> Nvrtc::shared(const ProviderSettings& settings) {
  static std::mutex mutex;
  static std::map<std::vector<std::string>, std::shared_ptr<const Nvrtc>> opened;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const Nvrtc>& nvrtc = opened[candidates(settings)];
  if (!nvrtc) {
    ASSAY_TRY(nvrtc, open(settings));
  }
  return nvrtc;
}

Status Nvrtc::load() {
  ASSAY_TRY(library_.load("nvrtcVersion", call_.version));
  ASSAY_TRY(library_.load("nvrtcGetErrorString", call_.error_string));
  ASSAY_TRY(library_.load("nvrtcCreateProgram", call_.create));
  ASSAY_TRY(library_.load("nvrtcDestroyProgram", call_.destroy));
  ASSAY_TRY(library_.load("nvrtcCompileProgram", call_.compile));
  ASSAY_TRY(library_.load("nvrtcGetProgramLogSize", call_.log_size));
  ASSAY_TRY(library_.load("nvrtcGetProgramLog", call_.log));
  ASSAY_TRY(library_.load("nvrtcGetCUBINSize", call_.cubin_size));
  ASSAY_TRY(library_.load("nvrtcGetCUBIN", call_.cubin));
  ASSAY_TRY(library_.load("nvrtcAddNameExpression", call_.add_name));
  ASSAY_TRY(library_.load("nvrtcGetLoweredName", call_.lowered_name));
  if (call_.version(&major_, &minor_) != 0)
    return fail(ErrorCode::unsupported, "{} does not tell its version", path());
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(path()).parent_path();
  std::error_code ignored;
  for (const char* beside :
       {"../include", "../../include", "../../../include", "../../cuda_runtime/include"}) {
    const fs::path headers = (folder / beside).lexically_normal();
    if (!fs::exists(headers / "cuda_fp16.h", ignored)) continue;
    include_folders_.push_back(headers.string());
    // <cuda/std/...>, since CUDA 13: nvcc looks there unasked.
    if (fs::exists(headers / "cccl", ignored))
      include_folders_.push_back((headers / "cccl").string());
  }
  return {};
}

std::string Nvrtc::version() const { return fmt::format("{}.{}", major_, minor_); }

const std::string& Nvrtc::sha256() const {
  std::call_once(hash_once_, [this] { sha256_ = sha256_of_file(path()).value_or(""); });
  return sha256_;
}

std::string Nvrtc::log_of(Program program) const {
  size_t bytes = 0;
  if (call_.log_size(program, &bytes) != 0 || bytes < 2) return {};
  std::string log(bytes, '\0');
  if (call_.log(program, log.data()) != 0) return {};
  log.resize(bytes - 1);  // Ends in a NUL.
  return log;
}

Result<Compiled> Nvrtc::compile(const std::string& source, const std::string& name,
                                const std::string& entry,
                                const std::vector<std::string>& options) const {
  Program program = nullptr;
  const auto failed = [&](Code code, std::string_view doing) {
    return fail(ErrorCode::build_failed, "NVRTC, {}: {}", doing, call_.error_string(code));
  };
  const char* const headers[] = {own_header().data(), own_header().data()};
  const char* const header_names[] = {"cstdint", "stdint.h"};
  if (const Code code =
          call_.create(&program, source.c_str(), name.c_str(), 2, headers, header_names);
      code != 0)
    return failed(code, "reading the source");
  const std::shared_ptr<void> owner(program, [this](void* made) {
    auto* owned = static_cast<Program>(made);
    (void)call_.destroy(&owned);
  });
  if (const Code code = call_.add_name(program, entry.c_str()); code != 0)
    return failed(code, "naming the entry point");
  std::vector<const char*> words;
  for (const std::string& option : options) words.push_back(option.c_str());
  const Code code = call_.compile(program, static_cast<int>(words.size()), words.data());
  Compiled compiled;
  compiled.log = log_of(program);
  if (code != 0) {
    const std::string error = first_error(compiled.log);
    return fail(ErrorCode::build_failed, "{}:{}",
                error.empty() ? std::string(call_.error_string(code)) : error,
                first_lines(compiled.log));
  }
  const char* lowered = nullptr;
  if (const Code found = call_.lowered_name(program, entry.c_str(), &lowered);
      found != 0 || lowered == nullptr)
    return fail(ErrorCode::build_failed, "{} defines no kernel '{}'", name, sanitize(entry, 80));
  compiled.symbol = lowered;
  size_t bytes = 0;
  if (const Code sized = call_.cubin_size(program, &bytes); sized != 0 || bytes == 0)
    return failed(sized, "asking for the cubin");
  compiled.cubin.resize(bytes);
  if (const Code taken = call_.cubin(program, reinterpret_cast<char*>(compiled.cubin.data()));
      taken != 0)
    return failed(taken, "taking the cubin");
  return compiled;
}

}  // namespace assay::cuda_source
