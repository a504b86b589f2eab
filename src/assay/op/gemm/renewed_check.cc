#include "assay/op/gemm/renewed_check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/base/random.h"
#include "assay/op/gemm/freivalds.h"
#include "assay/op/gemm/judge.h"
#include "assay/op/gemm/methods.h"
#include "assay/op/gemm/reference.h"
#include "assay/op/gemm/renewal.h"

namespace assay::gemm {
namespace {

// Of the block that is compared: less than a millisecond, most of which is making columns of b;
// more where k is large. What projections allow grows with k, and at 4096 x 14336 one element of a
// row in ten may be anything: so few columns would miss one in fifty in all looks of a race.
constexpr int64_t kColumnElements = 1 << 16, kMostRows = 16, kLeastColumns = 16;

using Projection = RenewedCheck::Projection;

// One operand as a launch had it. Where only some columns are wanted, they alone are made, dense.
struct Made {
  std::vector<std::byte> bytes;
  Matrix matrix;
};

size_t place_of(const Problem& problem, std::string_view role) {
  return static_cast<size_t>(std::ranges::find(problem.operands(), role, &Operand::role) -
                             problem.operands().begin());
}

Made make_operand(const Base& base, std::string_view role, const Matrix& matrix,
                  const InputSeeds& seeds) {
  const size_t place = place_of(base.problem, role);
  const Operand& operand = base.problem.operands()[place];
  Made made;
  made.bytes.resize(static_cast<size_t>(operand.span_bytes));
  renew(renewal_of(base.problem, place, seeds), made.bytes);
  made.matrix = with_data(matrix, made.bytes);
  return made;
}

// Rows are lines along k of what is looked at: with b seen as its transpose, so in all.
struct Sides {
  const Base& base;
  const InputSeeds& seeds;
  bool transposed = looks_along_columns(base.problem);

  Matrix turned(const Matrix& matrix) const { return transposed ? matrix.transposed() : matrix; }
  Made turned(Made made) const {
    made.matrix = turned(made.matrix);
    return made;
  }
  Made left() const {
    return turned(transposed ? make_operand(base, "b", matrix_b(base.view), seeds)
                             : make_operand(base, "a", matrix_a(base.view), seeds));
  }
  Made right() const {
    return turned(transposed ? make_operand(base, "a", matrix_a(base.view), seeds)
                             : make_operand(base, "b", matrix_b(base.view), seeds));
  }
  Made c() const { return turned(make_operand(base, "c", matrix_c(base.view), seeds)); }
  Matrix out(std::span<const std::byte> output) const {
    return turned(with_data(matrix_out(base.view), output));
  }

  // Those columns of the right side, of one batch.
  Made right_columns(int64_t batch, std::span<const int64_t> columns) const {
    const size_t place = place_of(base.problem, transposed ? "a" : "b");
    const Operand& operand = base.problem.operands()[place];
    const Renewal renewal = renewal_of(base.problem, place, seeds);
    const int64_t k = base.view.k, size = size_bytes(operand.dtype);
    Made made;
    made.bytes.resize(columns.size() * static_cast<size_t>(k * size));
    std::byte* to = made.bytes.data();
    for (const int64_t column : columns)
      for (int64_t p = 0; p < k; ++p, to += size)
        store_from_double(operand.dtype,
                          renewed_value(renewal, transposed ? std::array{batch, column, p}
                                                            : std::array{batch, p, column}),
                          to);
    made.matrix = {
        made.bytes.data(), operand.dtype, 1, k, static_cast<int64_t>(columns.size()), 0, 1, k};
    return made;
  }
};

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
  const bool transposed = looks_along_columns(base.problem);
  const int64_t rows = transposed ? base.view.n : base.view.m;
  return fmt::format("{} {} of batch {}", transposed ? "column" : "row", row % rows, row / rows);
}

// The budgets of a row's elements, added up; with what our own sums may lose.
double allowed_of(const Base& base, const Budget& budget, const RowSums& row) {
  const View& v = base.view;
  const auto count = static_cast<double>(looks_along_columns(base.problem) ? v.m : v.n);
  const double bound = std::fabs(v.alpha) * row.bound + std::fabs(v.beta) * row.weight;
  const double sums = budget.growth * bound + count * budget.underflow;
  const double own = (count + static_cast<double>(v.k)) * 0x1p-52 * (bound + row.size);
  return 1.0001 * (sums + budget.rounding * (row.size + 2 * sums)) + count * budget.min_normal +
         own;
}

class RenewedLook {
 public:
  RenewedLook(const Base& base, const Projection& projection, const Sides& sides,
              std::span<const std::byte> output, ErrorBound bound)
      : base_(base),
        v_(base.view),
        projection_(projection),
        sides_(sides),
        left_(sides.left()),
        out_(sides.out(output)),
        random_{
            seed_from(fmt::format("look {} {} {}", base.seed, sides.seeds.set, sides.seeds.launch)),
            0},
        judge_{base, !info(base.view.out).floating, bound,
               budgets_of(base, bound, {}, sides.seeds)} {
    if (v_.has_c) c_ = sides.c();
  }

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
  // Lines of the block: some, and one that is wide.
  std::vector<int64_t> choose_lines() const {
    auto lines = choose(out_.rows, kMostRows, random_.bits(1));
    const Renewal renewal = renewal_of(
        base_.problem, place_of(base_.problem, sides_.transposed ? "b" : "a"), sides_.seeds);
    if (renewal.odd_step <= 0) return lines;
    const int64_t odd = (out_.rows - renewal.odd_first - 1) / renewal.odd_step + 1;
    for (const int64_t index : choose(odd, 1, random_.bits(3)))
      lines.push_back(renewal.odd_first + index * renewal.odd_step);
    std::sort(lines.begin(), lines.end());
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    return lines;
  }

  void check_block() {
    const int64_t batch = static_cast<int64_t>(random_.below(0, static_cast<uint64_t>(v_.l)));
    const auto rows = choose_lines();
    const auto columns =
        choose(out_.columns, std::max(kLeastColumns, kColumnElements / v_.k), random_.bits(2));
    const Made right = sides_.right_columns(batch, columns);
    Matrix left = left_.matrix;
    left.data = left.at(batch, 0, 0);
    std::vector<double> product(rows.size() * columns.size()), magnitude(product.size());
    multiply(left, right.matrix, 0, Range::of(rows),
             Range::all(static_cast<int64_t>(columns.size())), product.data(), magnitude.data());
    for (size_t i = 0; i < rows.size(); ++i) {
      for (size_t j = 0; j < columns.size(); ++j) {
        const size_t at = i * columns.size() + j;
        const double addend =
            v_.has_c ? load_as_double(c_.matrix.dtype, c_.matrix.at(batch, rows[i], columns[j]))
                     : 0;
        judge_.element(place(batch, rows[i], columns[j]),
                       load_as_double(v_.out, out_.at(batch, rows[i], columns[j])), product[at],
                       magnitude[at], addend);
      }
    }
  }

  Judge::Place place(int64_t batch, int64_t row, int64_t column) const {
    return sides_.transposed ? Judge::Place{batch, column, row} : Judge::Place{batch, row, column};
  }

  std::vector<RowSums> sum_rows() const {
    std::vector<RowSums> rows(static_cast<size_t>(v_.l * out_.rows));
    const auto row_at = [&](int64_t batch, int64_t row) -> RowSums& {
      return rows[static_cast<size_t>(batch * out_.rows + row)];
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
    add_up(out_, &RowSums::got, &RowSums::size, signs, nullptr, 0);
    if (v_.has_c) add_up(c_.matrix, &RowSums::addend, &RowSums::weight, signs, nullptr, 0);
    add_up(left_.matrix, &RowSums::product, &RowSums::bound, projection_.image.data(),
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
    const auto got = times_residues(out_, projection_.residues, 0);
    const auto product = times_residues(left_.matrix, projection_.residues_image, v_.k);
    const auto addend = v_.has_c ? times_residues(c_.matrix, projection_.residues, 0)
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
  Made left_, c_;
  Matrix out_;
  CounterRandom random_;
  Judge judge_;
};

// Of the right side, as those seeds make it.
Projection make_projection(const Sides& sides) {
  const View& v = sides.base.view;
  const Made right = sides.right();
  const uint64_t seed =
      seed_from(fmt::format("projection {} {}", sides.base.seed, sides.seeds.set));
  Projection made;
  if (!info(v.out).floating) {
    made.residues = random_residues(right.matrix.columns, seed);
    made.residues_image = times_residues(right.matrix, made.residues, 0);
    return made;
  }
  const CounterRandom random{seed, 0x7369676e};
  for (int64_t j = 0; j < right.matrix.columns; ++j)
    made.signs.push_back(random.bits(static_cast<uint64_t>(j)) & 1 ? -1 : 1);
  made.image.resize(static_cast<size_t>(v.l * v.k));
  made.absolute.resize(made.image.size());
  for_each_tile_parallel(right.matrix, [&](int64_t batch, Range rows, Range columns, double* tile) {
    load_tile(right.matrix, batch, rows, columns, tile);
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

}  // namespace

void judge_row(Judge& judge, const RowSums& sums, int64_t row) {
  const View& v = judge.base.view;
  const bool integers = !info(v.out).floating;
  const double expected = v.alpha * sums.product + (v.has_c ? v.beta * sums.addend : 0.0);
  const int64_t rows = looks_along_columns(judge.base.problem) ? v.n : v.m;
  const Budget& budget = judge.budgets[static_cast<size_t>(row / rows)];
  const double allowed = integers ? 0 : allowed_of(judge.base, budget, sums);
  if (!std::isfinite(expected)) return;  // So may its elements be.
  // An infinity in the row would allow itself.
  if (std::isfinite(sums.size) && std::fabs(sums.got - expected) <= allowed) return;
  judge.wrong(fmt::format("{}: its sum with random signs is {:.9g}, expected {:.9g} +- {:.3g}",
                          name_of(judge.base, row), sums.got, expected,
                          std::isfinite(allowed) ? allowed : 0.0));
}

std::shared_ptr<const Projection> RenewedCheck::projection(const Base& base,
                                                           const InputSeeds& seeds) const {
  const Sides sides{base, seeds};
  if (varies(*base.problem.find_operand(sides.transposed ? "a" : "b")))
    return std::make_shared<const Projection>(make_projection(sides));
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const Projection>& kept = projections_[seeds.set];
  if (!kept) kept = std::make_shared<const Projection>(make_projection(sides));
  return kept;
}

Check RenewedCheck::check(const Base& base, std::span<const std::byte> output,
                          const InputSeeds& seeds, ErrorBound bound) const {
  const auto projected = projection(base, seeds);
  const Sides sides{base, seeds};
  return RenewedLook(base, *projected, sides, output, bound).run();
}

}  // namespace assay::gemm
