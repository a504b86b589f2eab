#pragma once

// A program that runs code of a user's while a kernel is compiled: Python, say. Whoever compiles
// describes it; where it runs, and what that process may do, the harness decides.

#include <functional>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/subprocess.h"

namespace assay {

struct GuestProgram {
  std::vector<std::string> argv;  // argv[0] is a path.
  std::string input;              // For its stdin.
  double timeout_seconds = 120;
  int64_t memory_bytes = 0;  // Address space; 0: no limit.
  size_t most_output = size_t{48} << 20;
};

// Runs it to its end. Its output is text: where the harness runs it, control characters and bytes
// that are no UTF-8 come back escaped (sanitize()). Its working directory, HOME and TMPDIR are a
// folder of its own, gone afterwards; of the environment it has PATH and a UTF-8 locale besides. A
// timeout or a nonzero exit is an output, not an Error.
using RunGuest = std::function<Result<CommandOutput>(const GuestProgram&)>;

// In a child of this process, with this process's rights: for tests, and for a process that has
// given up its own.
Result<CommandOutput> run_here(const GuestProgram& program);

}  // namespace assay
