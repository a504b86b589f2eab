#include "assay/op/user/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/op/user/inputs.h"
#include "assay/op/user/problem.h"

namespace assay::user {
namespace {

constexpr double kWrong = 2;  // Of outputs that are no numbers.

std::string value_text(double value) {
  if (value == 0) return "0";  // Of either sign.
  return std::isnan(value) ? "nan" : fmt::format("{:.9g}", value);
}

std::string place_text(const Operand& operand, size_t element) {
  std::string text;
  auto rest = static_cast<int64_t>(element);
  for (size_t d = operand.sizes.size(); d-- > 0; rest /= operand.sizes[d])
    text = fmt::format("{}{}{}", rest % operand.sizes[d], text.empty() ? "" : ",", text);
  return fmt::format("{}[{}]", operand.role, text);
}

std::vector<std::byte> stored(const Operand& operand, std::span<const double> values) {
  std::vector<std::byte> bytes(static_cast<size_t>(operand.span_bytes));
  convert_from_double(operand.dtype, values.data(), static_cast<int64_t>(values.size()),
                      bytes.data());
  return bytes;
}

// The error in units of what is allowed.
double error_of(const Operand& operand, const Tolerance& tolerance, double expected, double got) {
  const double held = std::isfinite(expected) ? round_to(operand.dtype, expected) : expected;
  if (!std::isfinite(held)) {  // Beyond the type, too.
    const bool same = std::isnan(held) ? std::isnan(got) : got == held;
    return same ? 0 : kWrong;
  }
  if (got == expected) return 0;
  const double allowed = tolerance.absolute + tolerance.relative * std::fabs(expected);
  const double ratio = std::fabs(got - expected) / allowed;
  return ratio <= std::numeric_limits<double>::max() ? ratio : std::numeric_limits<double>::max();
}

}  // namespace

Check compare(const Operand& operand, const Tolerance& tolerance, std::span<const double> expected,
              std::span<const std::byte> output) {
  Check check;
  check.method = method::kEvery;
  check.elements = elements_of(operand);
  const std::vector<double> got = widened(operand, output);
  if (got.size() != expected.size()) {
    check.wrong = check.elements;
    check.first_wrong = fmt::format("{} has {} bytes instead of {}", operand.role, output.size(),
                                    operand.span_bytes);
    return check;
  }
  check.compared = check.elements;
  double sum = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = error_of(operand, tolerance, expected[i], got[i]);
    const double allowed = tolerance.absolute + tolerance.relative * std::fabs(expected[i]);
    if (!(error <= 1) && ++check.wrong == 1) {
      check.first_wrong = fmt::format("{} = {}, expected {}", place_text(operand, i),
                                      value_text(got[i]), value_text(expected[i]));
      if (std::isfinite(expected[i])) check.first_wrong += fmt::format(" +- {:.3g}", allowed);
    }
    check.max_error = std::max(check.max_error, error);
    if (std::isfinite(allowed)) check.smallest_visible = std::max(check.smallest_visible, allowed);
    sum = std::min(sum + error, std::numeric_limits<double>::max());
  }
  check.right = check.wrong == 0;
  check.mean_error = std::min(sum / static_cast<double>(check.elements), check.max_error);
  return check;
}

namespace {

class Audit {
 public:
  Audit(const Operand& operand, const Tolerance& tolerance, std::span<const double> expected)
      : operand_(operand),
        tolerance_(tolerance),
        expected_(expected),
        honest_(stored(operand, expected)) {
    for (const double value : expected_) {
      const double held = round_to(operand_.dtype, value);
      const double allowed = tolerance_.absolute + tolerance_.relative * std::fabs(value);
      if (std::isfinite(value) && held != value)
        rounding_ = std::max(rounding_, std::fabs(held - value) / allowed);
    }
  }

  // Why the reference itself is no measure; empty: it is one.
  std::string honest() const {
    for (size_t i = 0; i < expected_.size(); ++i)
      if (!std::isfinite(expected_[i]))
        return fmt::format(
            "reference: it gives {} at {} for inputs of -1 to 1, where anything but a number "
            "tells nothing: define the operation so that it is finite there",
            value_text(expected_[i]), place_text(operand_, i));
    if (rounding_ <= 1) return {};
    return fmt::format(
        "tolerance: the reference itself, rounded to {}, is wrong by it; write relative: {:.1g} at "
        "least",
        to_string(operand_.dtype), assay::epsilon(operand_.dtype));
  }

  // Notes that one if it is taken for right. `always`: even if it is right, as what every kernel
  // hands out would be.
  void try_one(std::string who, std::span<const double> output, bool always) {
    const std::vector<std::byte> bytes = stored(operand_, output);
    if (!always && bytes == honest_) return;
    const Check check = compare(operand_, tolerance_, expected_, bytes);
    if (!check.right) return;
    if (bytes == honest_) nothing_is_told_ = true;
    least_ = passed_.empty() ? check.max_error : std::min(least_, check.max_error);
    passed_.push_back(std::move(who));
  }

  // Empty: none passed. The tolerance that is advised refuses all that did.
  std::string said() const {
    if (passed_.empty()) return {};
    const std::string who = join(passed_, ", ");
    if (nothing_is_told_)
      return fmt::format("tolerance: {} would pass for right: no output is told from another", who);
    const double share = least_ / 2;
    if (rounding_ > share)
      return fmt::format(
          "tolerance: {} would pass for right, and no tolerance refuses that and takes the "
          "reference rounded to {}: choose a wider type, or an operation whose output says more",
          who, to_string(operand_.dtype));
    return fmt::format(
        "tolerance: {} would pass for right: the smallest of their errors is {:.2g} times what it "
        "allows; write {:.1g} times that, {{relative: {:.1g}, absolute: {:.1g}}}",
        who, least_, share, tolerance_.relative * share, tolerance_.absolute * share);
  }

 private:
  const Operand& operand_;
  const Tolerance& tolerance_;
  std::span<const double> expected_;
  std::vector<std::byte> honest_;
  double rounding_ = 0;  // The reference's own error in the output's type, in what is allowed.
  std::vector<std::string> passed_;
  double least_ = 0;  // Of their largest errors.
  bool nothing_is_told_ = false;
};

}  // namespace

std::string find_impostor(const Operand& operand, const Tolerance& tolerance,
                          std::span<const AuditedInput> inputs, std::span<const double> expected,
                          std::span<const double> others) {
  Audit audit(operand, tolerance, expected);
  if (std::string why = audit.honest(); !why.empty()) return why;
  audit.try_one("zeros everywhere", std::vector<double>(expected.size()), true);
  audit.try_one("the output of other inputs", others, true);
  audit.try_one("ones everywhere", std::vector(expected.size(), 1.0), false);
  for (const AuditedInput& input : inputs)
    if (input.values.size() == expected.size())
      audit.try_one(fmt::format("a copy of {}", input.role), input.values, false);
  const double mean =
      std::accumulate(expected.begin(), expected.end(), 0.0) / static_cast<double>(expected.size());
  if (expected.size() > 1)
    audit.try_one("the output's mean everywhere", std::vector(expected.size(), mean), false);
  std::vector<double> changed(expected.begin(), expected.end());
  for (size_t i = changed.size() / 2; i < changed.size(); ++i) changed[i] = 0;
  audit.try_one("an output whose second half is zeros", changed, false);
  if (info(operand.dtype).floating && info(operand.dtype).significand_bits > 8) {
    for (size_t i = 0; i < changed.size(); ++i) changed[i] = round_to(DType::bf16, expected[i]);
    audit.try_one("the output rounded to bf16", changed, false);
  }
  return audit.said();
}

std::optional<size_t> first_difference(const Tolerance& tolerance, std::span<const double> expected,
                                       std::span<const double> again) {
  // Sums of several threads may end in other bits of a float64, far below what is allowed.
  constexpr double kMost = 1e-2;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == again[i] || (std::isnan(expected[i]) && std::isnan(again[i]))) continue;
    const double allowed = tolerance.absolute + tolerance.relative * std::fabs(expected[i]);
    if (!(std::fabs(expected[i] - again[i]) <= kMost * allowed)) return i;
  }
  return std::nullopt;
}

std::string difference_text(const Operand& operand, std::span<const double> expected,
                            std::span<const double> again, size_t element) {
  return fmt::format("{} = {}, then {}", place_text(operand, element),
                     value_text(expected[element]), value_text(again[element]));
}

}  // namespace assay::user
