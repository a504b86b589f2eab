#pragma once

// Which files a source brings along, found without a compiler: a preprocessor run costs a hundred
// times as much, and it would be paid on every hit of the cache.

#include <map>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/kernel/provider.h"

namespace assay::input {

struct LocalFiles {
  // The entry's source, as it was read, and every file it includes that lies beside it or in a
  // folder of the flags -I and -iquote, by path, with the SHA-256 of its text. Headers of the
  // system are not among them: the compiler's version stands for those.
  std::map<std::string, std::string> sha256;
  // There is an include named by a macro, or a text that asks which files there are: only a
  // preprocessor can follow those.
  bool needs_preprocessor = false;
};

// Every #include counts, also one under a false #if: that rebuilds too often, never too rarely.
Result<LocalFiles> find_local_files(const KernelEntry& entry,
                                    const std::vector<std::string>& flags);

}  // namespace assay::input
