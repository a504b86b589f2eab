#pragma once

// A user's source becomes a shared object in the cache.

#include <string>
#include <vector>

#include "assay/kernel/artifact.h"
#include "assay/kernel/family.h"
#include "assay/kernel/provider.h"

namespace assay::cpp_source {

// What decides the bytes besides the files.
struct Build {
  const KernelEntry& entry;
  std::vector<std::string> macros;  // "TILE=4".
  const Target& target;
  const CompileContext& context;
};

// The cached object or a new one. Errors: unsupported where there is no compiler; build_failed with
// the first lines that it printed, or where it took longer than the context allows; not_found or
// invalid_input where the source cannot be read; the cache's.
Result<Artifact> compile(const Build& build);

// The standard, -O3 and what the target has: -march=native where that is this machine.
inline constexpr const char* kStandardOfCpp = "-std=c++20";
inline constexpr const char* kStandardOfC = "-std=gnu17";
std::vector<std::string> default_flags(const Target& target,
                                       const std::string& standard = kStandardOfCpp);

// Of a kernel's own flags those that linking takes too: not -ffast-math and its like, which add
// start-up code that lets the whole process round subnormal numbers to zero.
std::vector<std::string> flags_for_linking(const std::vector<std::string>& flags);

// The program that `cxx` names, links resolved, found as the shell would in the system's folders.
// not_found if there is none.
Result<std::string> find_compiler(const std::string& cxx);

}  // namespace assay::cpp_source
