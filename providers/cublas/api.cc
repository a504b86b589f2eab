#include "api.h"

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/device/cuda/libraries.h"

namespace assay::cublas {

Result<std::shared_ptr<const Api>> Api::open(const ProviderSettings& settings) {
  const auto given = settings.find("library");
  const auto load = [](const std::string& path) -> Result<std::shared_ptr<const Api>> {
    ASSAY_TRY(DynamicLibrary library, DynamicLibrary::open(path));
    const std::shared_ptr<Api> api(new Api(std::move(library)));
    ASSAY_TRY(api->load());
    return api;
  };
  return first_that_loads(
      given != settings.end()
          ? std::vector<std::string>{given->second}
          : cuda::library_candidates({"libcublas.so.13", "libcublas.so.12"}, "cublas", settings),
      load);
}

Status Api::load() {
  ASSAY_TRY(library_.load("cublasCreate_v2", call_.create));
  ASSAY_TRY(library_.load("cublasDestroy_v2", call_.destroy));
  ASSAY_TRY(library_.load("cublasGetProperty", call_.property));
  ASSAY_TRY(library_.load("cublasGetStatusString", call_.status_text));
  ASSAY_TRY(library_.load("cublasSetStream_v2", call_.set_stream));
  ASSAY_TRY(library_.load("cublasSetWorkspace_v2", call_.set_workspace));
  ASSAY_TRY(library_.load("cublasGemmEx", call_.gemm));
  return library_.load("cublasGemmStridedBatchedEx", call_.batched);
}

Api::~Api() {
  if (handle_ != nullptr) (void)call_.destroy(handle_);
}

Result<Handle> Api::handle() const {
  const std::lock_guard lock(mutex_);
  if (handle_ == nullptr) {
    if (const Code made = call_.create(&handle_); made != 0) {
      handle_ = nullptr;
      return fail(ErrorCode::unsupported, "cuBLAS makes no handle here: {}",
                  call_.status_text(made));
    }
  }
  return handle_;
}

std::string Api::version() const {
  int parts[3] = {};  // libraryPropertyType: major, minor, patch.
  for (int which = 0; which < 3; ++which)
    if (call_.property(which, &parts[which]) != 0) return {};
  return fmt::format("{}.{}.{}", parts[0], parts[1], parts[2]);
}

const std::string& Api::sha256() const {
  std::call_once(hash_once_, [this] { sha256_ = sha256_of_file(path()).value_or(""); });
  return sha256_;
}

}  // namespace assay::cublas
