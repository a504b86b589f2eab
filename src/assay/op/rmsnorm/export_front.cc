#include "assay/op/rmsnorm/export_front.h"

#include <fmt/format.h>

#include "assay/op/rmsnorm/budget.h"

namespace assay::rmsnorm {
namespace {

// A row's root is kept: elements are asked for one after another.
constexpr const char* kText = R"(
class Reference {
 public:
  static constexpr double kCost = 8;

  explicit Reference(const Buffers& set) : set_(set) {}

  Expected at(std::size_t, const std::int64_t* index) {
    if (index[0] != row_) load(index[0]);
    const double w = static_cast<double>(element(kOperand[kW].type, set_.operand[kW], index[1]));
    const double expected = x(index[0], index[1]) * root_ * w, size = std::fabs(expected);
    const double computed = growth_ * size + kFlushed * (std::fabs(w) + root_);
    const double allowed =
        computed + kRounding * (size + computed) + (size < kMinNormal ? kMinNormal : 0);
    return {expected, allowed, !std::isfinite(expected)};
  }

 private:
  double x(std::int64_t row, std::int64_t column) const {
    return static_cast<double>(
        element(kOperand[kX].type, set_.operand[kX], row * kOperand[kX].strides[0] + column));
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
           "constexpr std::size_t kX = {}, kW = {};\nconstexpr std::int64_t kN = {};\n"
           "constexpr double kEpsilon = {:a}, kSums = {:a}, kProducts = {:a}, kFactor = {:a},\n"
           "                 kRounding = {:a}, kMinNormal = {:a}, kFlushed = {:a};\n{}",
           size_t{kX}, size_t{kW}, sizes.n, sizes.epsilon, budget.sums, budget.products,
           budget.factor, budget.rounding(), budget.min_normal, budget.flushed, kText)}};
}

}  // namespace assay::rmsnorm
