#pragma once

// --profiler: a sweep by the user's cutlass_profiler instead of a race.

#include <string>
#include <vector>

#include "assay/base/result.h"
#include "cli/command.h"

namespace assay::cli {

struct ProfilerFlags {
  bool asked = false;              // --profiler
  std::string binary;              // --profiler-bin, which asks for it too.
  std::vector<std::string> extra;  // --extra-profiler-flags: words of flags.
  std::string timeout = "2m";      // --profiler-timeout

  void declare(Flags& app);
  bool given() const { return asked || !binary.empty(); }

  // The program: --profiler-bin, else CUTLASS_PROFILER_BIN, else along the PATH. A whole path.
  // Errors (invalid_input) name where the name came from.
  Result<std::string> find(const Settings& settings) const;

  // The tool's own flags, and `kernels` as its --kernels, checked: none that assay says itself. A
  // flag that the tool is not known to have is noted, since it would pass over it in silence.
  Result<std::vector<std::string>> flags(Console& console,
                                         const std::vector<std::string>& kernels) const;

  // invalid_input where the command line has flags that are about a race.
  static Status refuse_those_of_a_race(const std::vector<std::string>& words);
};

}  // namespace assay::cli
