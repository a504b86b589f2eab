#pragma once

// Comma-separated values as RFC 4180 has them, of hostile origin: every cell knows its place.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"

namespace assay {

struct CsvCell {
  std::string text;          // Without its quotes. Blanks around what was not quoted are kept.
  int line = 1, column = 1;  // Where it begins, from 1; columns count bytes.
};
using CsvRow = std::vector<CsvCell>;

inline constexpr std::size_t kMaxCsvColumns = 1000;
inline constexpr std::size_t kMaxCsvCells = 16'000'000;  // Some 350,000 rows of cutlass_profiler.

// Lines that hold nothing are left out; quoted cells may hold commas, doubled quotes and line ends;
// a byte order mark is skipped. Errors are invalid_input, "origin:line:column: what is wrong".
Result<std::vector<CsvRow>> read_csv(std::string_view text, std::string_view origin);

// The cell as it stands in a file: in quotes where it needs them.
std::string csv_cell(std::string_view text);

// Untrusted text for a cell: safe on a terminal, and no formula to a spreadsheet, which a quote in
// front prevents. A number is as it was.
std::string csv_text(std::string_view text);
// Without that quote: what csv_text() was given, but for characters that it had to escape.
std::string_view without_csv_guard(std::string_view text);

}  // namespace assay
