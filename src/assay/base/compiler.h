#pragma once

// What providers that call a compiler need of it, whichever it is.

#include <string>
#include <string_view>

#include "assay/base/json_fwd.h"
#include "assay/base/result.h"

namespace assay {

// Size and time of a program's file, for a cache's key: an upgrade replaces the file, and to read
// it would take longer. ErrorCode::unsupported where it is not there.
Result<Json> file_identity(const std::string& path);

// The first lines with words of what a compiler printed, each indented on a line of its own and
// safe to show; lines that begin with `except`, if that is not empty, are passed over.
std::string first_lines(std::string_view printed, std::string_view except = {});

// The first error in it, as "my.cc:4: 'x' was not declared": in the words of GCC and Clang
// (FILE:LINE:COLUMN: error: WORDS) or of nvcc and NVRTC (FILE(LINE): error: WORDS), the file by its
// last name. Lines that begin with `except` are passed over. Empty where there is none.
std::string first_error(std::string_view printed, std::string_view except = {});

}  // namespace assay
