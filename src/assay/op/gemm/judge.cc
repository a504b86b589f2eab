#include "assay/op/gemm/judge.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/op/proof_words.h"

namespace assay::gemm {
namespace {

std::string value_text(double value) {
  if (value == 0) return "0";  // Of either sign.
  return std::isnan(value) ? "nan" : fmt::format("{:.9g}", value);
}

}  // namespace

void Judge::element(const Place& place, double got, double product, double magnitude,
                    double addend) {
  const View& v = base.view;
  const double term = v.has_c ? v.beta * addend : 0;
  const double expected = v.alpha * product + term;
  const double size = std::fabs(v.alpha) * magnitude + std::fabs(term);
  const double budget = exact ? base.inputs.limits.quantum / 2
                              : allowed(budgets[static_cast<size_t>(place.batch)], expected, size);
  ++check.compared;
  if (!std::isfinite(expected)) return compare_non_finite(place, got, expected);
  compare(place, got, expected, budget, exact, base.plain.is_wide(magnitude),
          base.plain.split > 0 ? base.plain.square(magnitude, size, expected) : 0);
}

Approximate Judge::sum(int64_t batch, double product, double magnitude, double addend) const {
  const View& v = base.view;
  const double term = v.has_c ? v.beta * addend : 0;
  Approximate x{.value = v.alpha * product + term, .exact = exact};
  if (exact || !std::isfinite(x.value)) return x;
  const double size = std::fabs(v.alpha) * magnitude + std::fabs(term);
  // With one rounding to out's type, as where the epilogue is a kernel of its own.
  x.error = allowed(budgets[static_cast<size_t>(batch)], x.value, size);
  if (base.plain.split > 0) x.square = base.plain.square(magnitude, size, x.value);
  return x;
}

void Judge::element(const Place& place, double got, Approximate made, bool is_wide) {
  const View& v = base.view;
  ++check.compared;
  if (made.exact)
    return compare(place, got, made.value, base.inputs.limits.quantum / 2, true, false, 0);
  if (made.open) return;
  if (!std::isfinite(made.value)) return compare_non_finite(place, got, made.value);
  const double budget =
      allowed_last(budgets[static_cast<size_t>(place.batch)], v, made.value, made.error);
  // What out's type cannot hold says nothing.
  if (!(std::fabs(made.value) + budget < info(v.out).max_finite)) return;
  made.square += base.plain.last * made.value * made.value;
  compare(place, got, made.value, budget, false, is_wide, made.square);
}

void Judge::add(const Judge& other) {
  if (check.wrong == 0) check.first_wrong = other.check.first_wrong;
  check.wrong += other.check.wrong;
  check.compared += other.check.compared;
  check.max_error = std::max(check.max_error, other.check.max_error);
  check.smallest_visible = std::max(check.smallest_visible, other.check.smallest_visible);
  sum_of_errors = std::min(sum_of_errors + other.sum_of_errors, std::numeric_limits<double>::max());
  ordinary.add(other.ordinary);
  wide.add(other.wide);
}

void Judge::refuse(const Place& place, double got, double expected, double within) {
  std::string sentence = fmt::format("out[{},{},{}] = {}, expected {}", place.batch, place.row,
                                     place.column, value_text(got), value_text(expected));
  if (within > 0) sentence += fmt::format(" +- {:.3g}", within);
  wrong(sentence);
}

void Judge::compare_non_finite(const Place& place, double got, double expected) {
  const bool same = std::isnan(expected) ? std::isnan(got) : got == expected;
  if (!same) refuse(place, got, expected, 0);
}

void Judge::compare(const Place& place, double got, double expected, double budget, bool to_the_bit,
                    bool is_wide, double square) {
  const double error = std::fabs(got - expected);
  const bool right = to_the_bit ? got == expected : error <= budget;
  if (!right) refuse(place, got, expected, to_the_bit ? 0 : budget);
  double ratio = error / budget;
  if (!(ratio <= std::numeric_limits<double>::max())) ratio = std::numeric_limits<double>::max();
  check.max_error = std::max(check.max_error, ratio);
  sum_of_errors = std::min(sum_of_errors + ratio, std::numeric_limits<double>::max());
  if (to_the_bit) return;
  check.smallest_visible = std::max(check.smallest_visible, budget);
  if (base.plain.split > 0) (is_wide ? wide : ordinary).add(error, square);
}

void Judge::wrong(const std::string& sentence) {
  if (++check.wrong == 1) check.first_wrong = sentence;
}

Check Judge::conclude(int64_t elements, std::string method) {
  check.elements = elements;
  check.method = std::move(method);
  if (bound == ErrorBound::normwise && !exact) check.method += kNormwiseMethod;
  check.mean_error = check.compared > 0 ? sum_of_errors / static_cast<double>(check.compared) : 0;
  check.ordinary_lines = ordinary.mean();
  check.wide_lines = wide.mean();
  check.right = check.wrong == 0;
  if (!check.right) check.max_error = std::max(check.max_error, 2.0);
  return std::move(check);
}

}  // namespace assay::gemm
