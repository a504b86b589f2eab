#pragma once

// cuBLASLt as it is found at run time, with one handle.

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "abi.h"
#include "assay/base/dynamic_library.h"
#include "assay/kernel/provider.h"

namespace assay::cublaslt {

class Api {
 public:
  // settings["library"] alone where it is given.
  static std::vector<std::string> candidates(const ProviderSettings& settings);

  // ErrorCode::invalid_input.
  static Status check(const ProviderSettings& settings);

  // The first candidate that loads; otherwise unsupported, with every reason. Makes no handle: that
  // takes a GPU.
  static Result<std::shared_ptr<const Api>> open(const ProviderSettings& settings);
  ~Api();

  const abi::EntryPoints& call() const { return call_; }
  // Made at the first call, in the GPU's context that is current then. ErrorCode::unsupported.
  Result<abi::Handle> handle() const;
  Status check(abi::Status status, std::string_view doing) const;

  const std::string& path() const { return library_.path(); }
  std::string version() const;        // "13.1.0"
  const std::string& sha256() const;  // Of the file, read once.

 private:
  explicit Api(DynamicLibrary library) : library_(std::move(library)) {}

  DynamicLibrary library_;
  abi::EntryPoints call_;
  mutable std::mutex mutex_;
  mutable abi::Handle handle_ = nullptr;
  mutable std::once_flag hash_once_;
  mutable std::string sha256_;
};

}  // namespace assay::cublaslt
