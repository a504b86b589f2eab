#include "api.h"

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/device/cuda/libraries.h"
#include "space.h"

namespace assay::cublaslt {

std::vector<std::string> Api::candidates(const ProviderSettings& settings) {
  if (const auto given = settings.find("library"); given != settings.end()) return {given->second};
  return cuda::library_candidates({"libcublasLt.so.13", "libcublasLt.so.12"}, "cublas", settings);
}

Status Api::check(const ProviderSettings& settings) {
  return SpaceChoice::parse(settings).map([](const SpaceChoice&) {});
}

Result<std::shared_ptr<const Api>> Api::open(const ProviderSettings& settings) {
  const auto load = [](const std::string& path) -> Result<std::shared_ptr<const Api>> {
    ASSAY_TRY(DynamicLibrary library, DynamicLibrary::open(path));
    const std::shared_ptr<Api> api(new Api(std::move(library)));
#define ASSAY_CUBLASLT_LOAD(member, symbol, result, parameters) \
  ASSAY_TRY(api->library_.load(symbol, api->call_.member));
    ASSAY_CUBLASLT_ENTRY_POINTS(ASSAY_CUBLASLT_LOAD)
#undef ASSAY_CUBLASLT_LOAD
    return api;
  };
  return first_that_loads(candidates(settings), load);
}

Api::~Api() {
  if (handle_ != nullptr) (void)call_.destroy(handle_);
}

Result<abi::Handle> Api::handle() const {
  const std::lock_guard lock(mutex_);
  if (handle_ == nullptr) {
    if (const abi::Status made = call_.create(&handle_); made != abi::kSuccess) {
      handle_ = nullptr;
      return fail(ErrorCode::unsupported, "cuBLASLt makes no handle here: {}",
                  call_.status_text(made));
    }
  }
  return handle_;
}

Status Api::check(abi::Status status, std::string_view doing) const {
  if (status == abi::kSuccess) return {};
  return fail(status == abi::kNotSupported ? ErrorCode::unsupported : ErrorCode::failed, "{}: {}",
              doing, call_.status_text(status));
}

std::string Api::version() const {
  // 130100 is 13.1.0; before version 13 it was 120803 for 12.8.3.
  const size_t version = call_.version();
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

const std::string& Api::sha256() const {
  std::call_once(hash_once_, [this] { sha256_ = sha256_of_file(path()).value_or(""); });
  return sha256_;
}

}  // namespace assay::cublaslt
