#pragma once

// What becomes of a sum before it is an element of out: a chain of steps, in the order in which
// they are written,
//
//   bias+gelu+residual     out = gelu(alpha * a x b + beta * c + bias) + residual
//
// Steps, with x what stands there before, for the row i and the column j of out:
//
//   bias                x + bias[j]            row_bias            x + row_bias[i]
//   scale               x * scale              residual            x + residual[i,j]
//   column_scale        x * column_scale[j]    row_scale           x * row_scale[i]
//   relu                max(x, 0)              clamp:LOW:HIGH      min(max(x, LOW), HIGH)
//   gelu                x Phi(x) = x / 2 (1 + erf(x / sqrt(2)))
//   gelu_tanh           x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
//   silu                x / (1 + exp(-x))
//   swiglu              silu(x[j]) * x[n/2 + j]: b's columns are two halves, and out has n / 2
//   geglu, geglu_tanh   gelu(x[j]) * x[n/2 + j], and of gelu_tanh likewise
//   swiglu_interleaved, geglu_interleaved, geglu_tanh_interleaved
//                       the same of neighbours: silu(x[2 j]) * x[2 j + 1]
//
// A step with an operand brings that operand to the problem, by its name, of out's type where
// nothing else is said, and the same for every batch but residual. It may stand there once. Ahead
// of a gate (swiglu ...) bias and column_scale have n elements, behind it n / 2.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/op/gemm/export/epilogue_functions.h"
#include "assay/op/gemm/gemm.h"
#include "assay/op/gemm/matrix.h"
#include "assay/tensor/dtype.h"

namespace assay::gemm {

struct EpilogueStep {
  enum class Kind : uint8_t {
    bias,
    row_bias,
    residual,
    scale,
    column_scale,
    row_scale,
    relu,
    gelu,
    gelu_tanh,
    silu,
    clamp,
    swiglu,
    geglu,
    geglu_tanh,
    swiglu_interleaved,
    geglu_interleaved,
    geglu_tanh_interleaved,
  };
  Kind kind = Kind::relu;
  double low = 0, high = 0;  // Of clamp.

  bool is_addend() const { return kind <= Kind::residual; }
  bool is_factor() const { return kind >= Kind::scale && kind <= Kind::row_scale; }
  bool has_operand() const { return kind <= Kind::row_scale; }
  bool is_gate() const { return kind >= Kind::swiglu; }
  bool is_interleaved() const { return kind >= Kind::swiglu_interleaved; }
  // Whether integers in make the same integers out in any arithmetic that holds them.
  bool keeps_integers() const { return has_operand() || kind == Kind::relu || kind == Kind::clamp; }
  std::string_view name() const;
  bool operator==(const EpilogueStep&) const = default;
};

class Epilogue {
 public:
  static constexpr size_t kMostSteps = 8;

  // "" is no step. The error says which step is wrong, and lists those that there are.
  static Result<Epilogue> parse(std::string_view text);
  static std::span<const std::string_view> step_names();
  static std::span<const std::string_view> names_without_gates();
  static std::span<const std::string_view> operand_names();  // Of steps that have one.

  std::span<const EpilogueStep> steps() const { return steps_; }
  bool empty() const { return steps_.empty(); }
  std::string text() const;  // As parse() takes it, in one spelling.

  Epilogue first(size_t count) const;  // Its first steps alone.
  const EpilogueStep* gate() const;
  // The product's column, or the two behind a gate, that column `column` of out is made of.
  std::array<int64_t, 2> columns(int64_t column, int64_t n) const;
  int64_t columns_of_out(int64_t n) const { return gate() == nullptr ? n : n / 2; }
  // Whether every step keeps integers exact.
  bool keeps_integers() const;

  // What no element exceeds where no sum exceeds `sum` and operands are within [-1, 1].
  double largest(double sum) const;

  // Multiplications and additions for each element of out, roughly: functions count for 8.
  double flops() const;

 private:
  std::vector<EpilogueStep> steps_;
};

// Of the problem's attribute.
Result<Epilogue> epilogue_of(const Problem& problem);

// The operand of a step, as if it had all rows, columns and batches: strides are 0 where it has
// only one. gated: the step stands behind a gate. data is null.
Matrix epilogue_matrix(const EpilogueStep& step, const Operand& operand, const View& view,
                       bool gated);
// The same of an operand that lies dense.
Matrix dense_epilogue_matrix(const EpilogueStep& step, DType dtype, const View& view, bool gated);

// Every operand of an epilogue with its bytes, by step; those of steps without one have no data.
struct EpilogueOperands {
  std::vector<Matrix> by_step;

  double at(size_t step, int64_t batch, int64_t row, int64_t column) const {
    const Matrix& matrix = by_step[step];
    return load_as_double(matrix.dtype, matrix.at(batch, row, column));
  }
};
// bytes(i): of operand i of the problem.
template <class Bytes>
EpilogueOperands epilogue_operands(const Problem& problem, const View& view,
                                   const Epilogue& epilogue, Bytes bytes) {
  EpilogueOperands operands;
  bool gated = false;
  for (const EpilogueStep& step : epilogue.steps()) {
    Matrix matrix;
    for (size_t i = 0; step.has_operand() && i < problem.operands().size(); ++i) {
      const Operand& operand = problem.operands()[i];
      if (operand.role != step.name()) continue;
      matrix = epilogue_matrix(step, operand, view, gated);
      matrix.data = bytes(i);
    }
    operands.by_step.push_back(matrix);
    gated = gated || step.is_gate();
  }
  return operands;
}

// Of its accumulate type.
Arithmetic arithmetic_of(const View& view);

// One element of out, from the sums that it is made of (two behind a gate).
Approximate apply(const Epilogue& epilogue, const EpilogueOperands& operands,
                  const Arithmetic& arithmetic, std::span<const Approximate> sums, int64_t batch,
                  int64_t row, int64_t column, const View& view);

// The same of numbers alone, in float64.
double apply(const Epilogue& epilogue, const EpilogueOperands& operands,
             std::span<const double> sums, int64_t batch, int64_t row, int64_t column,
             const View& view);

}  // namespace assay::gemm
