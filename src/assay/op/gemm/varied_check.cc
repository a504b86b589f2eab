#include "assay/op/gemm/varied_check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/base/random.h"
#include "assay/op/gemm/freivalds.h"
#include "assay/op/gemm/judge.h"
#include "assay/op/gemm/methods.h"
#include "assay/op/gemm/reference.h"
#include "assay/op/gemm/variation.h"

namespace assay::gemm {
namespace {

// Of the block that is compared: less than a millisecond, most of which is reading columns of b.
constexpr int64_t kColumnElements = 1 << 16, kMostRows = 16, kLeastColumns = 4;

// With b varied, everything transposed: rows of `left` are what varied in both.
struct Sides {
  Matrix left, right, out, c;
};
Sides sides_of(const Base& base, const VariedInputs& inputs, std::span<const std::byte> output) {
  const View& v = base.view;
  const Matrix a = with_data(matrix_a(v), inputs.a), b = with_data(matrix_b(v), inputs.b);
  const Matrix out = with_data(matrix_out(v), output), c = with_data(matrix_c(v), inputs.c);
  if (varied_operand_of(base.problem) == 0) return {a, b, out, c};
  return {b.transposed(), a.transposed(), out.transposed(), c.transposed()};
}

// About `count` different indices, or all.
std::vector<int64_t> choose(int64_t size, int64_t count, uint64_t seed) {
  std::vector<int64_t> chosen;
  const CounterRandom random{seed, 0x6c6f6f6b};
  const int64_t wanted = std::min(size, count);
  for (int64_t i = 0; i < wanted; ++i)
    chosen.push_back(count >= size ? i
                                   : static_cast<int64_t>(random.below(
                                         static_cast<uint64_t>(i), static_cast<uint64_t>(size))));
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

// "row 3 of batch 0"
std::string name_of(const Base& base, int64_t row) {
  const bool transposed = varied_operand_of(base.problem) == 1;
  const int64_t rows = transposed ? base.view.n : base.view.m;
  return fmt::format("{} {} of batch {}", transposed ? "column" : "row", row % rows, row / rows);
}

// The budgets of a row's elements, added up; with what our own sums may lose.
double allowed_of(const Base& base, const RowSums& row) {
  const Budget& budget = base.budget;
  const View& v = base.view;
  const auto count = static_cast<double>(varied_operand_of(base.problem) == 1 ? v.m : v.n);
  const double bound = std::fabs(v.alpha) * row.bound + std::fabs(v.beta) * row.weight;
  const double sums = budget.growth * bound + count * budget.underflow;
  const double own = (count + static_cast<double>(v.k)) * 0x1p-52 * (bound + row.size);
  return 1.0001 * (sums + budget.rounding * (row.size + 2 * sums)) + count * budget.min_normal +
         own;
}

class VariedCheck {
 public:
  VariedCheck(const Base& base, const Projection& projection, const Sides& sides,
              uint64_t variation)
      : base_(base),
        v_(base.view),
        projection_(projection),
        sides_(sides),
        transposed_(varied_operand_of(base.problem) == 1),
        random_{seed_from(fmt::format("look {} {}", base.seed, variation)), 0},
        judge_{base, !info(base.view.out).floating} {}

  Check run() {
    const int64_t elements = v_.l * v_.m * v_.n;
    check_block();
    if (info(v_.out).floating)
      project();
    else
      project_integers();
    return judge_.conclude(elements, fmt::format(method::kProjection, judge_.check.compared));
  }

 private:
  void check_block() {
    const int64_t batch = static_cast<int64_t>(random_.below(0, static_cast<uint64_t>(v_.l)));
    const auto rows = choose(sides_.out.rows, kMostRows, random_.bits(1));
    const auto columns = choose(sides_.out.columns, std::max(kLeastColumns, kColumnElements / v_.k),
                                random_.bits(2));
    std::vector<double> product(rows.size() * columns.size()), magnitude(product.size());
    multiply(sides_.left, sides_.right, batch, Range::of(rows), Range::of(columns), product.data(),
             magnitude.data());
    for (size_t i = 0; i < rows.size(); ++i) {
      for (size_t j = 0; j < columns.size(); ++j) {
        const size_t at = i * columns.size() + j;
        const double addend =
            v_.has_c ? load_as_double(sides_.c.dtype, sides_.c.at(batch, rows[i], columns[j])) : 0;
        judge_.element(place(batch, rows[i], columns[j]),
                       load_as_double(v_.out, sides_.out.at(batch, rows[i], columns[j])),
                       product[at], magnitude[at], addend);
      }
    }
  }

  Judge::Place place(int64_t batch, int64_t row, int64_t column) const {
    return transposed_ ? Judge::Place{batch, column, row} : Judge::Place{batch, row, column};
  }

  std::vector<RowSums> sum_rows() const {
    std::vector<RowSums> rows(static_cast<size_t>(v_.l * sides_.out.rows));
    const auto row_at = [&](int64_t batch, int64_t row) -> RowSums& {
      return rows[static_cast<size_t>(batch * sides_.out.rows + row)];
    };
    const auto add_up = [&](const Matrix& matrix, double RowSums::*sum, double RowSums::*size,
                            const double* factors, const double* sizes, int64_t step) {
      for_each_tile_parallel(matrix, [&](int64_t batch, Range some, Range columns, double* tile) {
        load_tile(matrix, batch, some, columns, tile);
        for (int64_t i = 0; i < some.count; ++i) {
          RowSums& row = row_at(batch, some[i]);
          const double* line = tile + i * columns.count;
          for (int64_t j = 0; j < columns.count; ++j) {
            const int64_t index = batch * step + columns[j];
            row.*sum += line[j] * factors[index];
            row.*size += std::fabs(line[j]) * (sizes == nullptr ? 1 : sizes[index]);
          }
        }
      });
    };
    const double* signs = projection_.signs.data();
    add_up(sides_.out, &RowSums::got, &RowSums::size, signs, nullptr, 0);
    if (v_.has_c) add_up(sides_.c, &RowSums::addend, &RowSums::weight, signs, nullptr, 0);
    add_up(sides_.left, &RowSums::product, &RowSums::bound, projection_.image.data(),
           projection_.absolute.data(), v_.k);
    return rows;
  }

  void project() {
    const std::vector<RowSums> rows = sum_rows();
    for (size_t i = 0; i < rows.size(); ++i) judge_row(judge_, rows[i], static_cast<int64_t>(i));
  }

  // Of s8: everything is exact, alpha and beta integers (exact_plan.h).
  void project_integers() {
    const ExactLimits& limits = base_.inputs.limits;
    const auto units = static_cast<int64_t>(1 / limits.quantum);
    const auto got = times_residues(sides_.out, projection_.residues, 0);
    const auto product = times_residues(sides_.left, projection_.residues_image, v_.k);
    const auto addend = v_.has_c ? times_residues(sides_.c, projection_.residues, 0)
                                 : std::vector<uint64_t>(got.size());
    for (size_t i = 0; i < got.size(); ++i) {
      const uint64_t expected = modulo(static_cast<Wide>(multiply_modulo(product[i], limits.ia)) +
                                       multiply_modulo(addend[i], limits.ib));
      if (multiply_modulo(got[i], units) != expected)
        judge_.wrong(
            fmt::format("{} fails Freivalds' check", name_of(base_, static_cast<int64_t>(i))));
    }
  }

  const Base& base_;
  const View& v_;
  const Projection& projection_;
  const Sides& sides_;
  bool transposed_;
  CounterRandom random_;
  Judge judge_;
};

}  // namespace

void judge_row(Judge& judge, const RowSums& sums, int64_t row) {
  const View& v = judge.base.view;
  const bool integers = !info(v.out).floating;
  const double expected = v.alpha * sums.product + (v.has_c ? v.beta * sums.addend : 0.0);
  const double allowed = integers ? 0 : allowed_of(judge.base, sums);
  if (!std::isfinite(expected)) return;  // So may its elements be.
  // An infinity in the row would allow itself.
  if (std::isfinite(sums.size) && std::fabs(sums.got - expected) <= allowed) return;
  judge.wrong(fmt::format("{}: its sum with random signs is {:.9g}, expected {:.9g} +- {:.3g}",
                          name_of(judge.base, row), sums.got, expected,
                          std::isfinite(allowed) ? allowed : 0.0));
}

Projection make_projection(const Base& base, const VariedInputs& inputs) {
  const View& v = base.view;
  const Sides sides = sides_of(base, inputs, {});
  const uint64_t seed = seed_from(fmt::format("projection {}", base.seed));
  Projection made;
  if (!info(v.out).floating) {
    made.residues = random_residues(sides.right.columns, seed);
    made.residues_image = times_residues(sides.right, made.residues, 0);
    return made;
  }
  const CounterRandom random{seed, 0x7369676e};
  for (int64_t j = 0; j < sides.right.columns; ++j)
    made.signs.push_back(random.bits(static_cast<uint64_t>(j)) & 1 ? -1 : 1);
  made.image.resize(static_cast<size_t>(v.l * v.k));
  made.absolute.resize(made.image.size());
  for_each_tile_parallel(sides.right, [&](int64_t batch, Range rows, Range columns, double* tile) {
    load_tile(sides.right, batch, rows, columns, tile);
    for (int64_t p = 0; p < rows.count; ++p) {
      const auto at = static_cast<size_t>(batch * v.k + rows[p]);
      for (int64_t j = 0; j < columns.count; ++j) {
        const double value = tile[p * columns.count + j];
        made.image[at] += value * made.signs[static_cast<size_t>(columns[j])];
        made.absolute[at] += std::fabs(value);
      }
    }
  });
  return made;
}

Check check_varied(const Base& base, const Projection& projection, const VariedInputs& inputs,
                   std::span<const std::byte> output, uint64_t variation) {
  const bool first = varied_operand_of(base.problem) == 0;
  std::vector<std::byte> varied(first ? inputs.a.size() : inputs.b.size());
  vary_operand(base.problem, variation, first ? inputs.a : inputs.b, varied);
  const VariedInputs seen = {first ? varied : inputs.a, first ? inputs.b : varied, inputs.c};
  const Sides sides = sides_of(base, seen, output);
  return VariedCheck(base, projection, sides, variation).run();
}

}  // namespace assay::gemm
