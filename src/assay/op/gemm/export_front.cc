#include "assay/op/gemm/export_front.h"

#include <algorithm>

#include <fmt/format.h>

#include "assay/base/embedded.h"
#include "assay/op/gemm/budget.h"
#include "assay/op/gemm/epilogue.h"

namespace assay::op_files {
std::span<const EmbeddedFile> embedded_files();
}  // namespace assay::op_files

namespace assay::gemm {
namespace {

using Kind = EpilogueStep::Kind;

std::string_view kind_text(const EpilogueStep& step) {
  if (step.is_addend()) return "add";
  if (step.is_factor()) return "multiply";
  return step.kind == Kind::relu ? "relu" : step.kind == Kind::clamp ? "clamp" : "bend";
}

std::string_view function_text(const EpilogueStep& step) {
  const std::string_view name = step.name();
  if (name.starts_with("gelu_tanh") || name.starts_with("geglu_tanh")) return "gelu_tanh";
  return name.starts_with("gelu") || name.starts_with("geglu") ? "gelu" : "silu";
}

class Writer {
 public:
  Writer(const Problem& problem, const View& view, const Epilogue& epilogue, ErrorBound bound)
      : problem_(problem), v_(view), epilogue_(epilogue), bound_(bound) {}

  std::string text() const {
    return "// What caller.cc checks by. The numbers are those that assay judged this problem by.\n"
           "#pragma once\n\n#include \"epilogue_functions.h\"\n\nnamespace problem {\n\n" +
           sizes() + budget() + steps() + "}  // namespace problem\n";
  }

 private:
  std::string strided(std::string_view role, int64_t batch, int64_t row, int64_t column) const {
    const auto operands = problem_.operands();
    const auto found = std::ranges::find(operands, role, &Operand::role);
    if (found == operands.end()) return "{0, 0, 0, 0}";
    return fmt::format("{{{}, {}, {}, {}}}", found - operands.begin(), batch, row, column);
  }

  std::string sizes() const {
    return fmt::format(
        "constexpr std::int64_t kL = {}, kM = {}, kN = {}, kK = {};\n"
        "constexpr long double kAlpha = {:.17g}L, kBeta = {:.17g}L;\n"
        "constexpr bool kHasC = {}, kNormwise = {}, kIntegers = {};\n"
        "// Where an element of an operand lies: steps in elements.\n"
        "struct Strided {{\n  std::size_t operand;\n  std::int64_t batch, row, column;\n}};\n"
        "constexpr Strided kA = {}, kB = {},\n                  kC = {};\n",
        v_.l, v_.m, v_.n, v_.k, v_.alpha, v_.has_c ? v_.beta : 0.0, v_.has_c,
        bound_ == ErrorBound::normwise, !info(v_.out).floating,
        strided("a", v_.a_l, v_.a_m, v_.a_k), strided("b", v_.b_l, v_.b_k, v_.b_n),
        strided("c", v_.c_l, v_.c_m, v_.c_n));
  }

  std::string budget() const {
    constexpr int kMoreNormwise = 15;  // See budgets.h.
    const Budget budget = budget_of(v_, bound_ == ErrorBound::normwise ? kMoreNormwise : 0);
    const bool floating = info(v_.out).floating;
    return fmt::format(
        "// Of a right kernel's errors: times the sum of absolute values; of the type of out.\n"
        "constexpr double kGrowth = {:a}, kUnderflow = {:a}, kRounding = {:a},\n"
        "                 kMinNormal = {:a}, kOutUnit = {:a}, kMostOfOut = {:a};\n",
        budget.growth, budget.underflow, budget.rounding, budget.min_normal,
        floating ? epsilon(v_.out) / 2 : 0, info(v_.out).max_finite);
  }

  std::string steps() const {
    std::string text =
        "struct Step {\n  enum Kind { add, multiply, relu, clamp, bend } kind;\n"
        "  Strided operand;\n  double low, high;\n  assay::gemm::Function function;\n};\n"
        "constexpr Step kSteps[] = {\n";
    bool gated = false;
    for (const EpilogueStep& step : epilogue_.steps()) {
      std::string operand = "{0, 0, 0, 0}";
      if (const Operand* found = problem_.find_operand(step.name());
          step.has_operand() && found != nullptr) {
        const Matrix matrix = epilogue_matrix(step, *found, v_, gated);
        operand =
            strided(step.name(), matrix.batch_stride, matrix.row_stride, matrix.column_stride);
      }
      text += fmt::format(
          "    {{Step::{}, {}, {:.17g}, {:.17g}, assay::gemm::Function::{}}},  // {}\n",
          kind_text(step), operand, step.low, step.high, function_text(step), step.name());
      gated = gated || step.is_gate();
    }
    if (epilogue_.empty())
      text += "    {Step::relu, {0, 0, 0, 0}, 0, 0, assay::gemm::Function::gelu},  // None.\n";
    const EpilogueStep* const gate = epilogue_.gate();
    const Arithmetic arithmetic = arithmetic_of(v_);
    return text + fmt::format(
                      "}};\nconstexpr std::size_t kStepCount = {};\n"
                      "constexpr int kGate = {};  // Which of them halves the columns.\n"
                      "constexpr bool kInterleaved = {};\n"
                      "constexpr assay::gemm::Arithmetic kArithmetic = {{{:a}, {:a}}};\n\n",
                      epilogue_.steps().size(),
                      gate == nullptr ? -1 : static_cast<int>(gate - epilogue_.steps().data()),
                      gate != nullptr && gate->is_interleaved(), arithmetic.unit,
                      arithmetic.square);
  }

  const Problem& problem_;
  const View& v_;
  const Epilogue& epilogue_;
  ErrorBound bound_;
};

}  // namespace

std::string formula_of(const Problem& problem) {
  const auto sizes = view(problem);
  const auto epilogue = epilogue_of(problem);
  if (!sizes || !epilogue) return "a GEMM";
  std::string text = "out = ";
  if (sizes->alpha != 1) text += fmt::format("{:g} ", sizes->alpha);
  text += "a b";
  if (sizes->has_c) text += fmt::format(" + {:g} c", sizes->beta);
  if (!epilogue->empty()) text += ", then " + epilogue->text();
  return text;
}

Result<std::vector<ReferenceFile>> reference_files(const Problem& problem, ErrorBound bound) {
  ASSAY_TRY(const View sizes, view(problem));
  ASSAY_TRY(const Epilogue epilogue, epilogue_of(problem));
  const auto embedded = [](std::string_view name) {
    return std::string(find_embedded(op_files::embedded_files(), name));
  };
  const std::string text =
      Writer(problem, sizes, epilogue, bound).text() + embedded("gemm/export/reference.hpp");
  return std::vector<ReferenceFile>{
      {"reference.h", text},
      {"epilogue_functions.h", embedded("gemm/export/epilogue_functions.h")}};
}

}  // namespace assay::gemm
