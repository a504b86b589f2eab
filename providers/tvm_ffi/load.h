#pragma once

// An object and what it needs are mapped: from here on its code runs. Only workers that have given
// up their rights, and programs that mean to run it, do so.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "api.h"

namespace assay::tvm_ffi {

struct Wanted {
  std::string file;  // The artifact's.
  std::string symbol;
  std::filesystem::path folder;     // Of the user's own file: libraries may lie beside it.
  std::vector<std::string> needed;  // Libraries that it is linked to.
  const ProviderSettings& settings;
};

struct Loaded {
  std::shared_ptr<const Api> api;
  abi::Function* function = nullptr;
};

// Stays mapped until the process ends. ErrorCode::build_failed with the loader's reason;
// unsupported where TVM-FFI's library is missing or speaks another version.
Result<Loaded> load(const Wanted& wanted);

}  // namespace assay::tvm_ffi
