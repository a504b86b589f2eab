#pragma once

// Files of one JSON value a line, as users bring them.

#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/text.h"

namespace assay::load {

// Calls `take(field)` for each line that is not blank; errors name file and line. No line at all
// is an error, too.
template <class Take>
Status for_each_line(const std::string& path, Take&& take) {
  constexpr std::size_t kMostLines = 1'000'000;
  ASSAY_TRY(LineReader reader, LineReader::open(path));
  std::size_t number = 0, taken = 0;
  while (true) {
    ASSAY_TRY(const auto line, reader.next());
    if (!line) break;
    ++number;
    if (trim(line->text).empty()) continue;
    if (++taken > kMostLines)
      return fail(ErrorCode::invalid_input, "{}: more than {} lines are not taken",
                  sanitize(path, 200), kMostLines);
    ASSAY_TRY(
        const JsonDocument document,
        parse_json_document(line->text, fmt::format("{}, line {}", sanitize(path, 200), number)));
    ASSAY_TRY(take(JsonField(document)));
  }
  if (taken == 0)
    return fail(ErrorCode::invalid_input, "{}: no line has a prompt", sanitize(path, 200));
  return {};
}

}  // namespace assay::load
