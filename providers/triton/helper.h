#pragma once

// What the helper (compile.py) is asked, and what of its answer is believed: it ran a user's code.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"

namespace assay::triton {

// How the copy engine is to see an operand that is passed as a descriptor.
struct Descriptor {
  std::vector<int64_t> box;  // Elements, outermost first.
  int64_t swizzle = 0;       // Bytes.
};

struct Compiled {
  std::string cubin;  // Bytes.
  std::string symbol;
  int64_t warps = 0, shared_bytes = 0;
  std::array<int64_t, 3> cluster = {1, 1, 1};
  int64_t scratch_bytes = 0, scratch_alignment = 1;  // Of each block, of global memory.
  int64_t profile_bytes = 0;
  int64_t parameters = -1;  // Of the cubin's function; -1: not known.
  std::vector<Descriptor> descriptors;
  std::string log;  // The assembler's.
  Json facts;       // Of the compiler, for the record.

  Json launch() const;  // For an artifact's facts.
  static Result<Compiled> from_launch(const Json& json);
};

// Whose file it was, for sentences.
struct Question {
  std::string origin;  // KernelEntry::origin.
  std::string program;
  double timeout_seconds = 0;
  int64_t memory_bytes = 0;
};

// Errors (build_failed): the user's own, as FILE:LINE and the exception's last line; how the
// process ended; what is no answer of the helper's.
Result<Compiled> read_answer(const CommandOutput& output, const Question& question);

}  // namespace assay::triton
