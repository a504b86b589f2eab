#include "assay/op/gemm/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/op/gemm/freivalds.h"
#include "assay/op/gemm/judge.h"
#include "assay/op/gemm/methods.h"
#include "assay/op/gemm/reference.h"

namespace assay::gemm {
namespace {

constexpr int64_t kRowsAtOnce = 32;
constexpr size_t kMaxExplainedRows = 4;  // Rows that fail Freivalds and are then referenced.

class Comparison {
 public:
  Comparison(const Base& base, const Mapping& mapping, const OwnInputs& inputs,
             std::span<const std::byte> output, ErrorBound bound)
      : base_(base),
        reference_(base.reference()),
        v_(base.view),
        mapping_(mapping),
        judge_{base, base.inputs.exact, bound, budgets_of(base, bound, inputs, {})},
        check_(judge_.check) {
    out_ = with_data(matrix_out(v_), output);
    c_ = with_data(matrix_c(v_), inputs.c);
    row_factors_ = factors(mapping.m, v_.m);
    column_factors_ = factors(mapping.n, v_.n);
    to_row_ = mapping.m.inverse();
    to_column_ = mapping.n.inverse();
    to_batch_ = mapping.l.inverse();
  }

  Check run() {
    for (const Block& block : reference_.blocks) compare_block(block);
    if (base_.inputs.exact)
      check_exact();
    else if (!reference_.full)
      check_bounds();
    return judge_.conclude(v_.l * v_.m * v_.n, method());
  }

 private:
  std::vector<double> factors(const Axis& axis, int64_t size) const {
    std::vector<double> result(static_cast<size_t>(v_.l * size), 1.0);
    for (size_t i = 0; i < result.size(); ++i)
      if (axis.negative[i % static_cast<size_t>(size)]) result[i] = -1;
    return result;
  }

  std::string method() const {
    const bool exact = base_.inputs.exact;
    if (reference_.full) {
      return std::string(exact ? method::kEveryBitAndFreivalds : method::kEvery);
    }
    int64_t rows = 0, columns = 0;
    for (const Block& block : reference_.blocks)
      (block.all_columns ? rows : columns) +=
          static_cast<int64_t>(block.all_columns ? block.rows.size() : block.columns.size());
    if (exact) {
      return fmt::format(method::kFreivalds, rows);
    }
    return fmt::format(method::kBounds, rows, columns);
  }

  // One element of out at the kernel's own indices.
  void judge(int64_t l, int64_t i, int64_t j, double got, double product, double magnitude) {
    const double factor = row_factors_[l * v_.m + i] * column_factors_[l * v_.n + j];
    const double addend = v_.has_c ? load_as_double(c_.dtype, c_.at(l, i, j)) : 0;
    judge_.element({l, i, j}, got, factor * product, magnitude, addend);
  }

  // A row of a block, quickly where nothing is wrong: got, exact and magnitude in out's order.
  void compare_block(const Block& block) {
    const int64_t l = to_batch_[block.batch];
    const size_t width = block.columns.size();
    // Columns in the kernel's order, so that rows are read in one piece.
    std::vector<int64_t> own(width), place(width);
    if (block.all_columns) {
      for (size_t j = 0; j < width; ++j)
        own[j] = static_cast<int64_t>(j), place[j] = mapping_.n.from[j];
    } else {
      for (size_t j = 0; j < width; ++j)
        own[j] = to_column_[block.columns[j]], place[j] = static_cast<int64_t>(j);
    }
    const Range columns = block.all_columns ? Range::all(v_.n) : Range::of(own);
    std::vector<double> got(static_cast<size_t>(kRowsAtOnce) * width);
    for (size_t first = 0; first < block.rows.size(); first += kRowsAtOnce) {
      // Rows in the kernel's order as well, where all are there.
      const size_t count = std::min<size_t>(kRowsAtOnce, block.rows.size() - first);
      std::vector<int64_t> rows(count);
      for (size_t i = 0; i < count; ++i)
        rows[i] = block.all_rows ? static_cast<int64_t>(first + i) : to_row_[block.rows[first + i]];
      const Range range =
          block.all_rows ? Range{nullptr, static_cast<int64_t>(first), static_cast<int64_t>(count)}
                         : Range::of(rows);
      load_tile(out_, l, range, columns, got.data());
      for (size_t i = 0; i < count; ++i) {
        const size_t line =
            block.all_rows ? static_cast<size_t>(mapping_.m.from[rows[i]]) : first + i;
        compare_row(block, l, rows[i], own, place, line * width, got.data() + i * width);
      }
    }
  }

  void compare_row(const Block& block, int64_t l, int64_t i, const std::vector<int64_t>& own,
                   const std::vector<int64_t>& place, size_t line, const double* got) {
    const double* product = block.product.data() + line;
    const size_t width = own.size();
    if (v_.has_c || base_.inputs.exact) {
      for (size_t j = 0; j < width; ++j) {
        const double magnitude =
            base_.inputs.exact ? 0 : block.magnitude[line + static_cast<size_t>(place[j])];
        judge(l, i, own[j], got[j], product[place[j]], magnitude);
      }
      return;
    }
    // The same as judge() without branches; a row with anything wrong or not finite is done again
    // by judge() alone.
    const double* magnitude = block.magnitude.data() + line;
    const double row_factor = row_factors_[l * v_.m + i] * v_.alpha;
    const double* column_factors = column_factors_.data() + l * v_.n;
    double largest = 0, sum = 0, visible = 0;
    SquareSums ordinary, wide;
    const PlainOrder& plain = base_.plain;
    const Budget& element = judge_.budgets[static_cast<size_t>(l)];
    const double size_of_alpha = std::fabs(v_.alpha);
    bool all_right = true;
    for (size_t j = 0; j < width; ++j) {
      const double factor = row_factor * column_factors[own[j]];
      const double expected = factor * product[place[j]];
      const double budget = allowed(element, expected, std::fabs(factor) * magnitude[place[j]]);
      const double error = got[j] - expected;
      const double ratio = std::fabs(error) / budget;
      const double size = size_of_alpha * magnitude[place[j]];
      const double is_wide = plain.is_wide(magnitude[place[j]]) ? 1 : 0, square = error * error;
      const double plain_square = plain.square(magnitude[place[j]], size, expected);
      wide.elements += is_wide;
      wide.errors += is_wide * square;
      wide.plain += is_wide * plain_square;
      ordinary.elements += 1 - is_wide;
      ordinary.errors += (1 - is_wide) * square;
      ordinary.plain += (1 - is_wide) * plain_square;
      all_right &= ratio <= 1;
      largest = largest > ratio ? largest : ratio;
      visible = visible > budget ? visible : budget;
      sum += ratio;
    }
    if (!all_right) {
      for (size_t j = 0; j < width; ++j)
        judge(l, i, own[j], got[j], product[place[j]], magnitude[place[j]]);
      return;
    }
    check_.compared += static_cast<int64_t>(width);
    check_.max_error = std::max(check_.max_error, largest);
    check_.smallest_visible = std::max(check_.smallest_visible, visible);
    judge_.sum_of_errors += sum;
    if (plain.split <= 0) return;
    judge_.ordinary.add(ordinary);
    judge_.wide.add(wide);
  }

  // The whole of out against Freivalds: integers, and row sums as expected.
  void check_exact() {
    const ExactLimits& limits = base_.inputs.limits;
    std::vector<uint64_t> residues(reference_.residues.size());
    for (size_t j = 0; j < residues.size(); ++j)
      residues[j] = reference_.residues[static_cast<size_t>(mapping_.n.from[j])];
    std::vector<ResidueSum> sums(static_cast<size_t>(v_.l * v_.m));
    std::vector<uint8_t> broken(sums.size());
    for_each_tile_parallel(out_, [&](int64_t l, Range rows, Range columns, double* tile) {
      load_tile(out_, l, rows, columns, tile);
      const std::vector<double> c_tile = addends(l, rows, columns);
      const auto ib = static_cast<double>(limits.ib);
      const double* column_factors = column_factors_.data() + l * v_.n + columns.first;
      for (int64_t i = 0; i < rows.count; ++i) {
        double* line = tile + i * columns.count;
        const auto row = static_cast<size_t>(l * v_.m + rows[i]);
        const double row_factor = 1 / row_factors_[row];
        if (v_.has_c) {
          const double* addend = c_tile.data() + i * columns.count;
          for (int64_t j = 0; j < columns.count; ++j)
            line[j] = line[j] - ib * limits.quantum * addend[j];
        }
        bool whole = true;
        const double scale = row_factor / limits.quantum;
        for (int64_t j = 0; j < columns.count; ++j) {
          const double value = line[j] * (scale / column_factors[j]);
          const bool fits = std::fabs(value) <= 0x1p53;
          const double kept = fits ? value : 0.5;
          const auto integer = static_cast<int64_t>(kept);
          whole &= static_cast<double>(integer) == kept;
          line[j] = static_cast<double>(integer);
        }
        if (!whole) broken[row] = 1;
        sums[row].add(line, residues.data() + columns.first, columns.count);
      }
    });
    for (int64_t l = 0; l < v_.l; ++l) {
      std::vector<int64_t> failed;
      for (int64_t i = 0; i < v_.m; ++i) {
        const auto row = static_cast<size_t>(l * v_.m + i);
        const auto base_row = static_cast<size_t>(mapping_.l.from[l] * v_.m + mapping_.m.from[i]);
        if (!broken[row] &&
            sums[row].value() == multiply_modulo(reference_.expected[base_row], limits.ia))
          continue;
        if (check_.wrong > 0 && (reference_.full || is_compared(l, i))) continue;
        if (failed.size() < kMaxExplainedRows && explained_ < kMaxExplainedRows) {
          failed.push_back(i);
          ++explained_;
        } else {
          ++check_.wrong;
        }
      }
      if (!failed.empty()) explain(l, failed);
    }
  }

  bool is_compared(int64_t l, int64_t i) const {
    for (const Block& block : reference_.blocks) {
      if (to_batch_[block.batch] == l && block.all_columns &&
          std::binary_search(block.rows.begin(), block.rows.end(), mapping_.m.from[i]))
        return true;
    }
    return false;
  }

  // Finds the wrong elements of rows that failed.
  void explain(int64_t l, const std::vector<int64_t>& rows) {
    const Matrix a = with_data(matrix_a(v_), base_.inputs.a.bytes());
    const Matrix b = with_data(matrix_b(v_), base_.inputs.b.bytes());
    std::vector<int64_t> base_rows;
    for (int64_t i : rows) base_rows.push_back(mapping_.m.from[i]);
    const auto width = static_cast<size_t>(v_.n);
    std::vector<double> product(rows.size() * width), got(product.size());
    multiply(a, b, mapping_.l.from[l], Range::of(base_rows), Range::all(v_.n), product.data(),
             nullptr);
    load_tile(out_, l, Range::of(rows), Range::all(v_.n), got.data());
    for (size_t y = 0; y < rows.size(); ++y) {
      const int64_t before = check_.wrong;
      for (int64_t j = 0; j < v_.n; ++j) {
        const auto column = static_cast<size_t>(j), from = static_cast<size_t>(mapping_.n.from[j]);
        judge(l, rows[y], j, got[y * width + column], product[y * width + from], 0);
      }
      if (check_.wrong > before) continue;
      // Cannot happen while both are right; said rather than hidden.
      judge_.wrong(fmt::format("row out[{},{}] fails Freivalds' check", l, rows[y]));
    }
  }

  std::vector<double> addends(int64_t l, Range rows, Range columns) const {
    std::vector<double> tile;
    if (!v_.has_c) return tile;
    tile.resize(static_cast<size_t>(rows.count * columns.count));
    load_tile(c_, l, rows, columns, tile.data());
    return tile;
  }

  // No element can be larger than its row's and column's norms multiplied.
  void check_bounds() {
    struct Excess {
      int64_t count = 0, l = 0, i = 0, j = 0;  // The first of them.
      double got = 0, most = 0;
    };
    std::vector<Excess> excesses(static_cast<size_t>(v_.l * v_.m));  // By row.
    for_each_tile_parallel(out_, [&](int64_t l, Range rows, Range columns, double* tile) {
      load_tile(out_, l, rows, columns, tile);
      const std::vector<double> c_tile = addends(l, rows, columns);
      const Budget& budget = judge_.budgets[static_cast<size_t>(l)];
      const double rounded = (1 + budget.rounding) * (1 + 1e-9);
      const double slack = (1 + budget.growth) * rounded;
      const int64_t base_l = mapping_.l.from[l];
      std::vector<double> norms(static_cast<size_t>(columns.count));
      for (int64_t j = 0; j < columns.count; ++j) {
        const int64_t column = mapping_.n.from[columns[j]];
        norms[static_cast<size_t>(j)] = std::fabs(column_factors_[l * v_.n + columns[j]]) *
                                        reference_.column_norms[base_l * v_.n + column];
      }
      for (int64_t i = 0; i < rows.count; ++i) {
        const double* line = tile + i * columns.count;
        const double norm = slack * std::fabs(v_.alpha * row_factors_[l * v_.m + rows[i]]) *
                            reference_.row_norms[base_l * v_.m + mapping_.m.from[rows[i]]];
        for (int64_t j = 0; j < columns.count; ++j) {
          double most =
              norm * norms[static_cast<size_t>(j)] + rounded * budget.underflow + budget.min_normal;
          if (v_.has_c) most += slack * std::fabs(v_.beta * c_tile[i * columns.count + j]);
          if (std::fabs(line[j]) <= most || !std::isfinite(most)) continue;
          Excess& excess = excesses[static_cast<size_t>(l * v_.m + rows[i])];
          if (++excess.count == 1) excess = {1, l, rows[i], columns[j], line[j], most};
        }
      }
    });
    for (const Excess& excess : excesses) {
      if (excess.count > 0 && check_.wrong == 0)
        check_.first_wrong =
            fmt::format("out[{},{},{}] = {:.9g}, but its inputs allow {:.9g} at most", excess.l,
                        excess.i, excess.j, excess.got, excess.most);
      check_.wrong += excess.count;
    }
  }

  const Base& base_;
  const Reference& reference_;
  const View& v_;
  const Mapping& mapping_;
  Matrix out_, c_;
  std::vector<double> row_factors_, column_factors_;  // Signs, by own indices.
  std::vector<int64_t> to_row_, to_column_, to_batch_;
  Judge judge_;
  Check& check_;
  size_t explained_ = 0;
};

}  // namespace

Check compare(const Base& base, const Mapping& mapping, const OwnInputs& inputs,
              std::span<const std::byte> output, ErrorBound bound) {
  return Comparison(base, mapping, inputs, output, bound).run();
}

}  // namespace assay::gemm
