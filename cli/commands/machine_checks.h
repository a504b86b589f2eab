#pragma once

// What `assay doctor` looks at besides providers: folders, limits, the compiler.

#include <filesystem>
#include <string>
#include <vector>

#include "assay/sweep/sweep.h"
#include "cli/command.h"

namespace assay::cli {

struct MachineCheck {
  std::string what;  // "cache", "open files" ...
  bool fine = true;
  std::string found;   // A sentence.
  std::string remedy;  // What to do; empty where nothing need be done.
};

// Nothing is left behind: files are written and removed again.
std::vector<MachineCheck> check_machine(const Context& context, const std::string& cxx,
                                        const std::filesystem::path& cache);

// What kernels under test could reach here beside their own process.
MachineCheck check_isolation(const sweep::MachineReport& machine);

}  // namespace assay::cli
