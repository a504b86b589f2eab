#pragma once

// One cell of a profiler's report, and the numbers in it.

#include <cstdint>
#include <optional>
#include <string_view>

#include "assay/base/result.h"
#include "assay/record/csv.h"

namespace assay {

// Of any number of a report: beyond these a unit was mistaken, and results could not be read again.
inline constexpr double kLargestNumber = 9e14, kSmallestNumber = 1e-12;

// With its place, for errors: "file:line:column: name: what is wrong".
struct ProfilerCell {
  std::string_view text;
  std::string_view column;
  std::string_view origin;
  const CsvCell& place;

  tl::unexpected<Error> says(std::string_view sentence) const;
  tl::unexpected<Error> wrong(std::string_view what) const;
};

// A whole number from 1 to 2^40.
Result<std::int64_t> size_in(const ProfilerCell& cell);
// None for empty cells, 0, "nan" and "inf", as rows have them that did not run.
Result<std::optional<double>> number_in(const ProfilerCell& cell);
// A factor of the output, "1", or "1+0i" as complex kernels have it.
Result<std::optional<double>> scalar_in(const ProfilerCell& cell);

}  // namespace assay
