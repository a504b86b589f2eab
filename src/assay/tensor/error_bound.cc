#include "assay/tensor/error_bound.h"

#include "assay/base/text.h"

namespace assay {

std::string_view to_string(ErrorBound bound) {
  switch (bound) {
    case ErrorBound::elementwise:
      return "elementwise";
    case ErrorBound::normwise:
      return "normwise";
  }
  return "";
}

Result<ErrorBound> parse_error_bound(std::string_view text) {
  std::string known;
  for (const ErrorBound bound : kErrorBounds) {
    if (text == to_string(bound)) return bound;
    known += fmt::format("{}{}", known.empty() ? "" : " or ", to_string(bound));
  }
  return fail(ErrorCode::invalid_input, "no bound of errors is called '{}'; write {}",
              sanitize(text, 60), known);
}

}  // namespace assay
