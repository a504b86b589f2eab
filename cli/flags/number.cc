#include "cli/flags/number.h"

#include <charconv>
#include <cmath>

#include "assay/base/text.h"

namespace assay::cli {

Result<double> parse_number(const std::string& text, const std::string& flag, double least,
                            double most) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || read != end || !std::isfinite(value) || value < least || value > most)
    return fail(ErrorCode::invalid_input, "{} {}: give a number from {} to {}", flag,
                sanitize(text, 40), least, most);
  return value;
}

}  // namespace assay::cli
