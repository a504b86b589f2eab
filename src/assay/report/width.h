#pragma once

// Text in terminal columns: one for most characters, two for wide ones, none for combining ones.

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::report {

// Columns that valid UTF-8 takes on a terminal. Bytes that are no UTF-8 count one each.
int display_width(std::string_view text);

enum class Elide { end, middle };

// `text` cut to at most `width` columns, with ".." where something was left out.
std::string fit(std::string_view text, int width, Elide elide = Elide::end);

// Bytes of the leading characters that take at most `width` columns; at least one character's.
std::size_t fit_bytes(std::string_view text, int width);

enum class Align { left, right };

// `text` filled up with spaces to `width` columns; longer text stays as it is.
std::string pad(std::string_view text, int width, Align align = Align::left);

// Words of `text` on lines of at most `width` columns; lines after the first start with `indent`
// spaces. Ends with a newline.
std::string wrap(std::string_view text, int width, int indent);

}  // namespace assay::report
