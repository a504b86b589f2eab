#pragma once

// libtvm_ffi.so as it is found at run time: errors, references, the stream of a device.

#include <memory>
#include <string>
#include <vector>

#include "abi.h"
#include "assay/base/dynamic_library.h"
#include "assay/kernel/provider.h"

namespace assay::tvm_ffi {

// As DynamicLibrary::open, but what is loaded does not go on handling this process's signals:
// 0.1.15 takes SIGSEGV, for itself and for all kernels beside it.
Result<DynamicLibrary> open_quietly(const std::string& file,
                                    const DynamicLibrary::Options& options);

class Api {
 public:
  // settings["library"] alone where it is given; else Python's packages, then the loader's search.
  static std::vector<std::string> candidates(const ProviderSettings& settings);

  // The first candidate that loads, its symbols open to objects that are loaded later. A process
  // has one: errors and streams are kept in it. ErrorCode::unsupported with every reason.
  static Result<std::shared_ptr<const Api>> open(const ProviderSettings& settings);

  // The one that an object which was just loaded is linked to.
  static Result<std::shared_ptr<const Api>> of(const DynamicLibrary& object);

  const abi::EntryPoints& call() const { return call_; }
  const std::string& path() const { return path_; }
  std::string version() const;  // "0.1.15"

  // "ValueError: rows do not fit" of the error that was raised in this thread, which it then is no
  // more; empty where none was. Foreign text: cut and made printable.
  std::string take_raised() const;

 private:
  static Result<std::shared_ptr<const Api>> load(const DynamicLibrary& library);

  abi::EntryPoints call_;
  std::string path_;
};

}  // namespace assay::tvm_ffi
