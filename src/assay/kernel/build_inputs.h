#pragma once

// What a compiler and its linker really read for an artifact. An artifact is found again if every
// one of these files is as it was, and if nothing appeared that would have been read in its place.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json_fwd.h"
#include "assay/base/result.h"

namespace assay {

struct BuildInputs {
  std::set<std::string> files;    // Whole paths of all that was read.
  std::set<std::string> folders;  // Where includes and libraries are looked for, besides systems'.
  // SHA-256 of the preprocessed text if a text asks which files there are; else empty.
  std::string preprocessed;
  // True if something was read that no tool told of: then nothing is ever found again.
  bool incomplete = false;
};

// The files in a rule of make, as -MD writes it: what stands behind the first colon of each rule.
std::vector<std::string> files_of_rules(std::string_view text);
// The files in what a linker prints for --trace, archives by their own names.
std::vector<std::string> files_of_trace(std::string_view text);

// The inputs as they are now, to be kept: hashes, and states by which a file that nobody touched is
// known without being read again. ErrorCode::busy, with the file's name, if one was written at or
// after `start_ns` (of the system's clock): then what was compiled may be neither old nor new.
Result<Json> take_inputs(const BuildInputs& inputs, std::int64_t start_ns);

// What of taken inputs decides the bytes: the same for the same files, whenever they were taken.
std::string digest_of_inputs(const Json& taken);

// Whether all is as it was taken. `text_hash` is the preprocessed text's now; it is asked for only
// if the inputs have one.
bool are_current(const Json& taken, const std::string& text_hash);
bool wants_text(const Json& taken);

}  // namespace assay
