#pragma once

// What code may be compiled for: an architecture and features, e.g. "x86_64+avx512f+avx512_bf16" or
// "sm_90a". Text in files and on the command line.

#include <set>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay {

struct Target {
  std::string arch;  // x86_64, aarch64, sm_90a ...
  std::set<std::string>
      features;  // avx2, fma, avx512f, avx512_bf16, avx512_vnni ... (Linux's names)

  static Result<Target> parse(std::string_view text);
  // What a user wrote: of an architecture that there is, or a misspelt one would match nothing.
  static Result<Target> parse_known(std::string_view text);
  std::string to_string() const;

  bool is_gpu() const { return arch.starts_with("sm_"); }  // Else a processor's cores.

  // True if code that needs `requirement` runs here. An empty arch is needed by nothing in
  // particular.
  bool covers(const Target& requirement) const;
  bool operator==(const Target&) const = default;
};

}  // namespace assay
