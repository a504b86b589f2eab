#include "assay/op/gemm/calculated_check.h"

#include <algorithm>
#include <limits>

#include "assay/op/gemm/judge.h"
#include "assay/op/gemm/variation.h"

namespace assay::gemm {
namespace {

// A batch of an operand, whose bytes the calculator holds at `data`.
Calculator::Matrix batch_of(const Matrix& matrix, const void* data, int64_t batch) {
  const auto* start =
      static_cast<const std::byte*>(data) + batch * matrix.batch_stride * size_bytes(matrix.dtype);
  return {start,          matrix.dtype,      matrix.rows,
          matrix.columns, matrix.row_stride, matrix.column_stride};
}

Calculator::Rule rule_of(const Base& base, bool exact) {
  const View& v = base.view;
  return {.alpha = v.alpha,
          .beta = v.has_c ? v.beta : 0,
          .exact = exact,
          .exact_step = base.inputs.limits.quantum / 2,
          .growth = base.budget.growth,
          .rounding = base.budget.rounding,
          .underflow = base.budget.underflow,
          .min_normal = base.budget.min_normal};
}

void add(Judge& judge, const Calculator::Comparison& found, int64_t batch, int64_t elements) {
  if (found.first && judge.check.wrong == 0) {
    // Said as it is said of what was compared here.
    const Calculator::Element& e = *found.first;
    judge.element({batch, e.row, e.column}, e.got, e.product, e.magnitude, e.addend);
    if (judge.check.wrong == 0)
      judge.wrong(fmt::format("out[{},{},{}] = {:.17g} is just outside of what is right", batch,
                              e.row, e.column, e.got));
    judge.check.compared -= 1;
    judge.check.wrong -= 1;
  }
  judge.check.wrong += found.wrong;
  judge.check.compared += elements;
  judge.check.max_error = std::max(judge.check.max_error, found.largest_error);
  judge.check.smallest_visible = std::max(judge.check.smallest_visible, found.largest_unit);
  judge.sum_of_errors =
      std::min(judge.sum_of_errors + found.sum_of_errors, std::numeric_limits<double>::max());
}

}  // namespace

Result<Check> CalculatedCheck::check(Calculator& calculator, const Base& base,
                                     const VariedInputs& inputs, const void* output,
                                     uint64_t variation) {
  const std::lock_guard lock(mutex_);
  const View& v = base.view;
  Held held = held_;
  if (!held.a) {
    ASSAY_TRY(held.a, calculator.keep(inputs.a));
    ASSAY_TRY(held.b, calculator.keep(inputs.b));
    ASSAY_TRY(held.c, calculator.keep(inputs.c));
    if (calculator.has_room()) held_ = held;
  }
  const size_t varied = varied_operand_of(base.problem);
  const bool pristine = variation == 0 || varied > 1;
  if (!pristine) {
    held.products.clear();
    auto& operand = varied == 0 ? held.a : held.b;
    ASSAY_TRY(operand, calculator.turn(*operand, (varied == 0 ? inputs.a : inputs.b).size(),
                                       turned_lines(base.problem, variation)));
  }
  if (held.products.empty()) {
    for (int64_t l = 0; l < v.l; ++l) {
      ASSAY_TRY(auto product, calculator.multiply(batch_of(matrix_a(v), held.a->data(), l),
                                                  batch_of(matrix_b(v), held.b->data(), l)));
      held.products.push_back(std::move(product));
    }
    if (pristine && held_.a && calculator.has_room()) held_.products = held.products;
  }
  const bool exact = pristine ? base.inputs.exact : !info(v.out).floating;
  Judge judge{base, exact};
  for (int64_t l = 0; l < v.l; ++l) {
    const Calculator::Matrix out = batch_of(matrix_out(v), output, l);
    const Calculator::Matrix c = v.has_c ? batch_of(matrix_c(v), held.c->data(), l) : out;
    ASSAY_TRY(const auto found, calculator.compare(out, held.products[static_cast<size_t>(l)],
                                                   v.has_c ? &c : nullptr, rule_of(base, exact)));
    add(judge, found, l, v.m * v.n);
  }
  return judge.conclude(v.l * v.m * v.n,
                        exact ? "every element bit for bit" : "every element against float64");
}

}  // namespace assay::gemm
