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
  const auto refuse = [&](double within) {
    std::string sentence = fmt::format("out[{},{},{}] = {}, expected {}", place.batch, place.row,
                                       place.column, value_text(got), value_text(expected));
    if (within > 0) sentence += fmt::format(" +- {:.3g}", within);
    wrong(sentence);
  };
  if (!std::isfinite(expected)) {
    const bool same = std::isnan(expected) ? std::isnan(got) : got == expected;
    if (!same) refuse(0);
    return;
  }
  const double error = std::fabs(got - expected);
  const bool right = exact ? got == expected : error <= budget;
  if (!right) refuse(exact ? 0 : budget);
  double ratio = error / budget;
  if (!(ratio <= std::numeric_limits<double>::max())) ratio = std::numeric_limits<double>::max();
  check.max_error = std::max(check.max_error, ratio);
  sum_of_errors = std::min(sum_of_errors + ratio, std::numeric_limits<double>::max());
  if (exact) return;
  check.smallest_visible = std::max(check.smallest_visible, budget);
  const PlainOrder& plain = base.plain;
  if (plain.split > 0)
    (plain.is_wide(magnitude) ? wide : ordinary)
        .add(error, plain.square(magnitude, size, expected));
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
