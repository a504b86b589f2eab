#pragma once

// Lines of files that only grow. Each is a JSON object whose last member is the checksum of the
// text before it, so that a reader can tell a whole line from a damaged one:
// {"line":"commit", ... ,"xxh3":"0123456789abcdef"}

#include <string>
#include <string_view>

namespace assay {

// `object`: a JSON object with at least one member, on one line.
std::string with_check(std::string object);

bool has_its_check(std::string_view line);

}  // namespace assay
