#include "assay/op/rmsnorm/export_front.h"

#include <fmt/format.h>

#include "assay/op/rmsnorm/budget.h"

namespace assay::rmsnorm {
namespace {

// A row's root is kept: elements are asked for one after another. A residual is judged by the sum
// that it is to hold; out by what it does hold, so that a kernel may normalise either.
constexpr const char* kText = R"(
class Reference {
 public:
  static constexpr double kCost = 8;

  explicit Reference(const Buffers& set) : set_(set) {}

  Expected at(std::size_t operand, const std::int64_t* index) {
    if (operand == kResidual) {
      const double sum = added(index[0], index[1]), most = kFactor * kUnit * std::fabs(sum);
      return {sum,
              most + kWritten * (std::fabs(sum) + most) +
                  (std::fabs(sum) < kWrittenMin ? kWrittenMin : 0),
              !std::isfinite(sum)};
    }
    if (index[0] != row_) load(index[0]);
    const double w = static_cast<double>(element(kOperand[kW].type, set_.operand[kW], index[1]));
    const double expected = x(index[0], index[1]) * root_ * w, size = std::fabs(expected);
    const double computed = growth_ * size + kFlushed * (std::fabs(w) + root_);
    const double allowed =
        computed + kRounding * (size + computed) + (size < kMinNormal ? kMinNormal : 0);
    return {expected, allowed, !std::isfinite(expected)};
  }

 private:
  static double number(std::size_t operand, const void* at, std::int64_t row, std::int64_t column) {
    return static_cast<double>(
        element(kOperand[operand].type, at, row * kOperand[operand].strides[0] + column));
  }
  double added(std::int64_t row, std::int64_t column) const {
    return number(kX, set_.operand[kX], row, column) +
           number(kResidual, set_.given[kResidual], row, column);
  }
  // What is normalised: without a residual x.
  double x(std::int64_t row, std::int64_t column) const {
    return number(kResidual, set_.operand[kResidual], row, column);
  }
  void load(std::int64_t row) {
    long double sum = 0;
    for (std::int64_t column = 0; column < kN; ++column) {
      const long double value = x(row, column);
      sum += value * value;
    }
    const double v = static_cast<double>(sum / kN) + kEpsilon;
    const double theta = std::min(kSums + kFlushed / v, 0.5);
    growth_ = kFactor * ((1 + kProducts) / std::sqrt(1 - theta) - 1);
    root_ = 1 / std::sqrt(v);
    row_ = row;
  }

  const Buffers& set_;
  std::int64_t row_ = -1;
  double root_ = 0, growth_ = 0;
};

}  // namespace problem
)";

}  // namespace

std::string formula_of(const Problem& problem) {
  const auto sizes = view(problem);
  if (sizes && sizes->adds)
    return fmt::format("residual = residual + x, out = residual / sqrt(mean(residual^2) + {:g}) w",
                       sizes->epsilon);
  return fmt::format("out = x / sqrt(mean(x^2) + {:g}) w", sizes ? sizes->epsilon : 0);
}

Result<std::vector<ReferenceFile>> reference_files(const Problem& problem) {
  ASSAY_TRY(const View sizes, view(problem));
  const Budget budget = budget_of(sizes);
  return std::vector<ReferenceFile>{
      {"reference.h",
       fmt::format(
           "// What caller.cc checks by. The numbers are those that assay judged this problem by.\n"
           "#pragma once\n\nnamespace problem {{\n\n"
           "inline constexpr const char* kUnchecked = nullptr;\n"
           "// kResidual: x's place where there is none.\n"
           "constexpr std::size_t kX = {}, kW = {}, kResidual = {};\n"
           "constexpr std::int64_t kN = {};\n"
           "constexpr double kEpsilon = {:a}, kSums = {:a}, kProducts = {:a}, kFactor = {:a},\n"
           "                 kRounding = {:a}, kMinNormal = {:a}, kFlushed = {:a},\n"
           "                 kUnit = {:a}, kWritten = {:a}, kWrittenMin = {:a};\n{}",
           size_t{kX}, size_t{kW}, static_cast<size_t>(sizes.adds ? kResidual : kX), sizes.n,
           sizes.epsilon, budget.sums, budget.products, budget.factor,
           budget.rounding() + (sizes.adds ? budget.written : 0), budget.min_normal, budget.flushed,
           budget.unit, budget.written, budget.written_min, kText)}};
}

}  // namespace assay::rmsnorm
