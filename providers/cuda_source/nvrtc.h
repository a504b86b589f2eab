#pragma once

// NVRTC as it is found at run time: CUDA C++ to a cubin for one architecture. Works without a GPU.
// Source: NVRTC documentation, https://docs.nvidia.com/cuda/nvrtc/

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/dynamic_library.h"
#include "assay/kernel/provider.h"

namespace assay::cuda_source {

struct Compiled {
  std::vector<std::byte> cubin;
  std::string symbol;  // The entry's name in the cubin.
  std::string log;     // What the compiler said, with ptxas's resource lines where asked for.
};

// <cstdint> and <stdint.h>, for sources that include them.
std::string_view own_header();

class Nvrtc {
 public:
  // settings["library"] alone where it is given; else the toolkit, Python's packages, the system.
  static std::vector<std::string> candidates(const ProviderSettings& settings);
  static Result<std::shared_ptr<const Nvrtc>> open(const ProviderSettings& settings);
  // open(settings), once for this process and what is looked for: what compiling uses.
  static Result<std::shared_ptr<const Nvrtc>> shared(const ProviderSettings& settings);

  const std::string& path() const { return library_.path(); }
  std::string version() const;        // "13.0"
  const std::string& sha256() const;  // Of the file, read once.
  // Folders with the toolkit's headers beside the library, where there are some: cuda_fp16.h ...
  const std::vector<std::string>& include_folders() const { return include_folders_; }

  // ErrorCode::build_failed with the compiler's first lines.
  Result<Compiled> compile(const std::string& source, const std::string& name,
                           const std::string& entry, const std::vector<std::string>& options) const;

 private:
  using Code = int;
  using Program = struct ProgramTag*;
  struct Table {
    Code (*version)(int*, int*) = nullptr;
    const char* (*error_string)(Code) = nullptr;
    Code (*create)(Program*, const char*, const char*, int, const char* const*,
                   const char* const*) = nullptr;
    Code (*destroy)(Program*) = nullptr;
    Code (*compile)(Program, int, const char* const*) = nullptr;
    Code (*log_size)(Program, size_t*) = nullptr;
    Code (*log)(Program, char*) = nullptr;
    Code (*cubin_size)(Program, size_t*) = nullptr;
    Code (*cubin)(Program, char*) = nullptr;
    Code (*add_name)(Program, const char*) = nullptr;
    Code (*lowered_name)(Program, const char*, const char**) = nullptr;
  };
  explicit Nvrtc(DynamicLibrary library) : library_(std::move(library)) {}
  Status load();
  std::string log_of(Program program) const;

  DynamicLibrary library_;
  Table call_;
  int major_ = 0, minor_ = 0;
  std::vector<std::string> include_folders_;
  mutable std::once_flag hash_once_;
  mutable std::string sha256_;
};

}  // namespace assay::cuda_source
