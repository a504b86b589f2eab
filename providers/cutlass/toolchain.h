#pragma once

// The compiler and CUTLASS's headers, as they are found at run time.

#include <string>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "settings.h"

namespace assay::cutlass {

// CUTLASS as its package lays it out, or as it is checked out.
struct Headers {
  std::string include;  // Holds cutlass/cutlass.h.
  std::string package;  // Holds cutlass_library, its generator.
  std::string version;  // "4.2.0"

  // ErrorCode::unsupported, with what to install.
  static Result<Headers> find(const Settings& settings);
};

struct Toolchain {
  std::string nvcc;  // The program.
  Headers headers;
  Json identity;  // What the bytes depend on besides source and flags; no folder's name.

  // ErrorCode::unsupported, with what to install. locate() leaves out the identity, which takes a
  // look at every header.
  static Result<Toolchain> locate(const Settings& settings);
  static Result<Toolchain> find(const Settings& settings);

  // "13.0.88"; asks the compiler.
  Result<std::string> compiler_version() const;
};

// A program that lies where systems have it; not_found.
Result<std::string> find_program(const std::string& name);

}  // namespace assay::cutlass
