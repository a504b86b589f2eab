#pragma once

// The CUDA driver, loaded at run time. Nothing here needs a GPU: without one, open() says why.

#include <memory>
#include <string>
#include <string_view>

#include "assay/base/dynamic_library.h"
#include "assay/base/result.h"
#include "assay/device/cuda/abi.h"

namespace assay::cuda {

// After one of these nothing more can be done in this process: its context is gone, and the process
// has to end.
bool is_sticky(abi::Result code);

class Driver {
 public:
  // libcuda.so.1, or the file given: loads every entry point and initialises it.
  // ErrorCode::unsupported, with a remedy, where there is no driver, where it lacks an entry point
  // or cannot be initialised, and where it finds no GPU.
  static Result<std::shared_ptr<const Driver>> open(const std::string& path = {});

  // Empty for kSuccess. ErrorCode::machine for lack of memory, device_lost for sticky errors,
  // unsupported for code that is not for this GPU or driver, failed otherwise. `doing` is what was
  // wanted: "allocating 16 MiB: CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
  Status check(abi::Result code, std::string_view doing) const;

  const abi::EntryPoints& call() const { return call_; }
  // Where a profiler that was told to wait for it begins to look at launches, and where it ends.
  // Nothing happens where none looks. Errors: unsupported, where the driver has no such calls.
  Status profile(bool begins) const;
  int version() const { return version_; }  // 13000 is CUDA 13.0.
  std::string version_text() const;         // "13.0"
  int device_count() const { return device_count_; }
  const std::string& path() const { return library_.path(); }

 private:
  explicit Driver(DynamicLibrary library) : library_(std::move(library)) {}
  Status initialise();

  DynamicLibrary library_;
  abi::EntryPoints call_;
  int version_ = 0, device_count_ = 0;
};

}  // namespace assay::cuda
