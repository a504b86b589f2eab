#include "assay/op/gemm/budgets.h"

#include <algorithm>
#include <cmath>

#include "assay/op/gemm/ranges.h"
#include "assay/op/gemm/tiles.h"

namespace assay::gemm {
namespace {

// The largest magnitude of each batch; NaN counts for nothing.
std::vector<double> largest(const Matrix& matrix) {
  const auto rows = static_cast<size_t>(matrix.rows);
  std::vector<double> of_rows(static_cast<size_t>(matrix.batches) * rows);
  for_each_tile_parallel(matrix, [&](int64_t batch, Range some, Range columns, double* tile) {
    load_tile(matrix, batch, some, columns, tile);
    for (int64_t i = 0; i < some.count; ++i) {
      double& most = of_rows[static_cast<size_t>(batch) * rows + static_cast<size_t>(some[i])];
      for (int64_t j = 0; j < columns.count; ++j)
        most = std::max(most, std::fabs(tile[i * columns.count + j]));
    }
  });
  std::vector<double> of_batches;
  for (auto first = of_rows.begin(); first != of_rows.end(); first += matrix.rows)
    of_batches.push_back(*std::max_element(first, first + matrix.rows));
  return of_batches;
}

struct Norms {
  std::vector<double> a, b, c;
};

Norms norms_of(const View& view, const OwnInputs& inputs) {
  Norms norms{largest(with_data(matrix_a(view), inputs.a)),
              largest(with_data(matrix_b(view), inputs.b)),
              std::vector<double>(static_cast<size_t>(view.l))};
  if (view.has_c) norms.c = largest(with_data(matrix_c(view), inputs.c));
  return norms;
}

constexpr int kMoreRoundings = 3 * 5;  // Of three levels: see budgets.h.

// What uniform numbers stay below, and among many come near.
Norms norms_of_renewed(const View& view) {
  const auto batches = static_cast<size_t>(view.l);
  const Ranges ranges(view);
  return {std::vector<double>(batches, ranges.scale_a()), std::vector<double>(batches, 1),
          std::vector<double>(batches, view.has_c ? ranges.scale_c() : 0)};
}

}  // namespace

Budgets budgets_of(const Base& base, ErrorBound bound, const OwnInputs& inputs,
                   const InputSeeds& seeds) {
  const View& view = base.view;
  Budgets budgets(static_cast<size_t>(view.l), base.budget);
  if (bound == ErrorBound::elementwise || !info(view.out).floating) return budgets;
  budgets.assign(budgets.size(), budget_of(view, kMoreRoundings));
  const Norms norms = seeds.renewed() ? norms_of_renewed(view) : norms_of(view, inputs);
  for (size_t batch = 0; batch < budgets.size(); ++batch) {
    const double size =
        std::fabs(view.alpha) * static_cast<double>(view.k) * norms.a[batch] * norms.b[batch] +
        std::fabs(view.beta) * norms.c[batch];
    Budget& budget = budgets[batch];
    budget.underflow += budget.growth * size;
    budget.growth = 0;
  }
  return budgets;
}

}  // namespace assay::gemm
