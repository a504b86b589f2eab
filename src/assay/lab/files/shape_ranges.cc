#include "assay/lab/files/shape_ranges.h"

#include <charconv>
#include <optional>

#include "assay/base/text.h"

namespace assay::lab {
namespace {

std::optional<std::int64_t> number_of(std::string_view text) {
  constexpr std::int64_t kMost = 1'000'000'000;
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || value < 1 || value > kMost)
    return std::nullopt;
  return value;
}

}  // namespace

std::uint64_t ShapeRanges::Range::count() const {
  if (!text.empty()) return 1;
  if (!multiplies) return static_cast<std::uint64_t>((last - first) / step) + 1;
  std::uint64_t count = 1;
  for (std::int64_t value = first; value <= last / step; value *= step) ++count;
  return count;
}

std::string ShapeRanges::Range::at(std::uint64_t index) const {
  if (!text.empty()) return text;
  if (!multiplies) return std::to_string(first + static_cast<std::int64_t>(index) * step);
  std::int64_t value = first;
  for (; index > 0; --index) value *= step;
  return std::to_string(value);
}

Result<ShapeRanges::Range> ShapeRanges::parse_range(std::string_view text) {
  Range range;
  const std::vector<std::string_view> parts = split(text, ':');
  const auto first = number_of(parts[0]);
  if (parts.size() == 1 && !first) {
    if (!matches_name_rule(text))
      return fail(ErrorCode::invalid_input, "'{}' is no value of a shape", sanitize(text, 60));
    range.text = text;
    return range;
  }
  const auto last = parts.size() > 1 ? number_of(parts[1]) : first;
  std::string_view step = parts.size() > 2 ? parts[2] : "1";
  range.multiplies = step.starts_with('*');
  if (range.multiplies) step.remove_prefix(1);
  const auto by = number_of(step);
  if (parts.size() > 3 || !first || !last || !by || *last < *first || (range.multiplies && *by < 2))
    return fail(ErrorCode::invalid_input,
                "'{}' is no range: expected FIRST:LAST, FIRST:LAST:STEP or FIRST:LAST:*FACTOR",
                sanitize(text, 60));
  range.first = *first;
  range.last = *last;
  range.step = *by;
  return range;
}

Result<ShapeRanges> ShapeRanges::parse(std::string_view text) {
  ShapeRanges ranges;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string_view name = trim(part.substr(0, equals));
    if (equals == std::string_view::npos || !matches_name_rule(name))
      return fail(ErrorCode::invalid_input, "'{}': expected FIELD=VALUES", sanitize(part, 60));
    Field field{std::string(name), {}};
    for (const std::string_view alternative : split(trim(part.substr(equals + 1)), '|')) {
      ASSAY_TRY(Range range, parse_range(alternative));
      field.alternatives.push_back(std::move(range));
    }
    ranges.fields_.push_back(std::move(field));
  }
  return ranges;
}

std::string ShapeRanges::draw(const CounterRandom& random, std::uint64_t number) const {
  std::string shape;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const std::uint64_t at = 2 * (number * fields_.size() + i);
    const auto& alternatives = fields_[i].alternatives;
    const Range& range = alternatives[random.below(at, alternatives.size())];
    if (!shape.empty()) shape += ',';
    shape += fields_[i].name + '=' + range.at(random.below(at + 1, range.count()));
  }
  return shape;
}

}  // namespace assay::lab
