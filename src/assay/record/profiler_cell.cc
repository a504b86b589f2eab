#include "assay/record/profiler_cell.h"

#include <charconv>
#include <cmath>

#include "assay/base/text.h"

namespace assay {

tl::unexpected<Error> ProfilerCell::says(std::string_view sentence) const {
  return fail(ErrorCode::invalid_input, "{}:{}:{}: {}: {}", origin, place.line, place.column,
              column, sentence);
}

tl::unexpected<Error> ProfilerCell::wrong(std::string_view what) const {
  return says(fmt::format("'{}' is not {}", sanitize(text, 80), what));
}

Result<std::int64_t> size_in(const ProfilerCell& cell) {
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(cell.text.data(), cell.text.data() + cell.text.size(), value);
  if (error != std::errc() || end != cell.text.data() + cell.text.size() || value < 1 ||
      value > (std::int64_t{1} << 40)) {
    return cell.wrong("a whole number from 1 to 2^40");
  }
  return value;
}

// Empty cells, 0, "nan" and "inf" mean that there is no number, as in rows that did not run.
Result<std::optional<double>> number_in(const ProfilerCell& cell) {
  if (cell.text.empty()) return std::optional<double>();
  double value = 0;
  const auto [end, error] =
      std::from_chars(cell.text.data(), cell.text.data() + cell.text.size(), value);
  if (error != std::errc() || end != cell.text.data() + cell.text.size()) {
    return cell.wrong("a number");
  }
  if (!std::isfinite(value) || value == 0) return std::optional<double>();
  if (value < kSmallestNumber || value > kLargestNumber) {
    return cell.wrong(
        fmt::format("a positive number from {:g} to {:g}", kSmallestNumber, kLargestNumber));
  }
  return std::optional<double>(value);
}

// A factor of the output, "1" or as complex kernels have it "1+0i".
Result<std::optional<double>> scalar_in(const ProfilerCell& cell) {
  if (cell.text.empty()) return std::optional<double>();
  const char* const last = cell.text.data() + cell.text.size();
  double value = 0, imaginary = 0;
  std::from_chars_result read = std::from_chars(cell.text.data(), last, value);
  if (read.ec == std::errc() && read.ptr != last && (*read.ptr == '+' || *read.ptr == '-')) {
    const bool negative = *read.ptr == '-';
    read = std::from_chars(read.ptr + 1, last, imaginary);
    if (negative) imaginary = -imaginary;
    if (read.ptr != last && *read.ptr == 'i') ++read.ptr;
  }
  if (read.ec != std::errc() || read.ptr != last || !std::isfinite(value))
    return cell.wrong("a number");
  if (imaginary != 0) return cell.wrong("a real number, and others are not compared");
  return std::optional<double>(value);
}

}  // namespace assay
