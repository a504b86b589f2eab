#include "assay/op/gemm/epilogue_elements.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "assay/op/gemm/renewal.h"

namespace assay::gemm {

std::vector<int64_t> all_indices(int64_t size) {
  std::vector<int64_t> indices(static_cast<size_t>(size));
  std::iota(indices.begin(), indices.end(), int64_t{0});
  return indices;
}

EpilogueOperands epilogue_operands(const Base& base,
                                   std::span<const std::span<const std::byte>> more) {
  const Problem& problem = base.problem;
  return epilogue_operands(problem, base.view, base.epilogue, [&](size_t operand) {
    size_t place = 0;
    for (const EpilogueStep& step : base.epilogue.steps()) {
      if (!step.has_operand()) continue;
      if (step.name() == problem.operands()[operand].role) break;
      ++place;
    }
    return const_cast<std::byte*>(more[place].data());  // Only read.
  });
}

MadePart make_part(const Base& base, std::string_view role, const InputSeeds& seeds, int64_t batch,
                   std::span<const int64_t> rows, std::span<const int64_t> columns) {
  const auto operands = base.problem.operands();
  const auto place =
      static_cast<size_t>(std::ranges::find(operands, role, &Operand::role) - operands.begin());
  const Renewal renewal = renewal_of(base.problem, place, seeds);
  const DType dtype = operands[place].dtype;
  const int64_t size = size_bytes(dtype), width = std::ssize(columns);
  MadePart made;
  made.bytes.resize(rows.size() * columns.size() * static_cast<size_t>(size));
  std::byte* to = made.bytes.data();
  for (const int64_t row : rows) {
    for (const int64_t column : columns) {
      store_from_double(dtype, renewed_value(renewal, std::array{batch, row, column}), to);
      to += size;
    }
  }
  made.matrix = {made.bytes.data(), dtype, 1, std::ssize(rows), width, 0, width, 1};
  return made;
}

EpiloguePart::EpiloguePart(const Base& base, int64_t of_batch, std::vector<int64_t> of_rows,
                           std::vector<int64_t> of_columns)
    : batch(of_batch), rows(std::move(of_rows)), columns(std::move(of_columns)), view(base.view) {
  view.l = 1;
  view.m = std::ssize(rows);
  view.out_columns = std::ssize(columns);
  view.n = base.epilogue.gate() == nullptr ? view.out_columns : 2 * view.out_columns;
  of_product.resize(static_cast<size_t>(view.n));
  for (int64_t j = 0; j < view.out_columns; ++j) {
    const auto to = base.epilogue.columns(j, view.n);
    const auto from = base.epilogue.columns(columns[static_cast<size_t>(j)], base.view.n);
    for (size_t i = 0; i < to.size(); ++i) of_product[static_cast<size_t>(to[i])] = from[i];
  }
}

EpilogueOperands EpiloguePart::operands(const Base& base, const InputSeeds& seeds,
                                        std::vector<MadePart>& kept) const {
  EpilogueOperands operands;
  bool gated = false;
  const std::vector<int64_t> one = {0};
  for (const EpilogueStep& step : base.epilogue.steps()) {
    Matrix matrix;
    if (step.has_operand()) {
      const Operand& operand = *base.problem.find_operand(step.name());
      matrix = dense_epilogue_matrix(step, operand.dtype, view, gated);
      const auto& wide = gated ? columns : of_product;
      kept.push_back(make_part(base, step.name(), seeds, operand.sizes[0] == 1 ? 0 : batch,
                               matrix.row_stride == 0 ? one : rows,
                               matrix.column_stride == 0 ? one : wide));
      matrix.data = kept.back().bytes.data();
    }
    operands.by_step.push_back(matrix);
    gated = gated || step.is_gate();
  }
  return operands;
}

}  // namespace assay::gemm
