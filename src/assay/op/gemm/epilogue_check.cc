#include "assay/op/gemm/epilogue_check.h"

#include <algorithm>
#include <utility>

#include "assay/base/random.h"
#include "assay/op/gemm/epilogue_elements.h"
#include "assay/op/gemm/judge.h"
#include "assay/op/gemm/lines.h"
#include "assay/op/gemm/methods.h"
#include "assay/op/gemm/reference.h"
#include "assay/op/gemm/renewal.h"

namespace assay::gemm {
namespace {

constexpr int64_t kRowsOfAStrip = 32;

class EpilogueComparison {
 public:
  EpilogueComparison(const Base& base, const Mapping& mapping, const OwnInputs& inputs,
                     std::span<const std::byte> output, ErrorBound bound)
      : base_(base),
        v_(base.view),
        mapping_(mapping),
        operands_(epilogue_operands(base, inputs.more)),
        out_(with_data(matrix_out(v_), output)),
        c_(with_data(matrix_c(v_), inputs.c)),
        judge_{base, base.inputs.exact, bound, budgets_of(base, bound, inputs, {})},
        to_row_(mapping.m.inverse()),
        to_batch_(mapping.l.inverse()) {}

  Check run() {
    const Reference& reference = base_.reference();
    int64_t rows = 0, columns = 0;
    for (const Block& block : reference.blocks) {
      compare_block(block);
      (block.all_columns ? rows : columns) += static_cast<int64_t>(
          block.all_columns ? block.rows.size()
                            : block.columns.size() / (base_.epilogue.gate() == nullptr ? 1 : 2));
    }
    std::string method(base_.inputs.exact && base_.epilogue.keeps_integers() ? method::kEveryBit
                                                                             : method::kEvery);
    if (!reference.full) method = fmt::format(method::kLines, rows, columns);
    return judge_.conclude(v_.l * v_.m * v_.out_columns, std::move(method));
  }

 private:
  // Columns of out, as the kernel has them, whose products the block holds, and where.
  struct Column {
    int64_t own = 0;
    std::array<size_t, 2> at = {0, 0};
  };
  std::vector<Column> columns_of(const Block& block) const {
    std::vector<Column> columns;
    for (int64_t j = 0; j < v_.out_columns; ++j) {
      Column column{j, {}};
      const auto wanted = base_.epilogue.columns(mapping_.out.from[static_cast<size_t>(j)], v_.n);
      bool held = true;
      for (size_t i = 0; i < wanted.size() && held; ++i) {
        const auto found = std::ranges::lower_bound(block.columns, wanted[i]);
        held = found != block.columns.end() && *found == wanted[i];
        column.at[i] = static_cast<size_t>(found - block.columns.begin());
      }
      if (held) columns.push_back(column);
    }
    return columns;
  }

  void compare_block(const Block& block) {
    const int64_t l = to_batch_[static_cast<size_t>(block.batch)];
    const std::vector<Column> columns = columns_of(block);
    const auto strips =
        (block.rows.size() + kRowsOfAStrip - 1) / static_cast<size_t>(kRowsOfAStrip);
    std::vector<Judge> judges(strips, Judge{base_, judge_.exact, judge_.bound, judge_.budgets});
    const auto compare_strip = [&](size_t strip) {
      EpilogueElements elements(judges[strip], operands_, v_);
      const size_t first = strip * static_cast<size_t>(kRowsOfAStrip);
      const size_t last = std::min(first + static_cast<size_t>(kRowsOfAStrip), block.rows.size());
      for (size_t y = first; y < last; ++y) {
        const int64_t i = to_row_[static_cast<size_t>(block.rows[y])];
        const size_t line = y * block.columns.size();
        for (const Column& column : columns) {
          const double got = load_as_double(v_.out, out_.at(l, i, column.own));
          elements.add({l, i, column.own}, l, i, column.own, got, [&](size_t which) {
            const size_t at = line + column.at[which];
            return ElementSum{block.product[at], base_.inputs.exact ? 0 : block.magnitude[at],
                              v_.has_c ? load_as_double(c_.dtype, c_.at(l, i, column.own)) : 0};
          });
        }
      }
    };
    for_each_parallel(strips, compare_strip);
    for (const Judge& judge : judges) judge_.add(judge);
  }

  const Base& base_;
  const View& v_;
  const Mapping& mapping_;
  EpilogueOperands operands_;
  Matrix out_, c_;
  Judge judge_;
  std::vector<int64_t> to_row_, to_batch_;
};

// About `count` different indices, or all; ascending.
std::vector<int64_t> choose(int64_t size, int64_t count, const CounterRandom& random,
                            uint64_t stream) {
  if (count >= size) return all_indices(size);
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < count; ++i)
    chosen.push_back(static_cast<int64_t>(
        random.below(stream + static_cast<uint64_t>(i), static_cast<uint64_t>(size))));
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

class Look {
 public:
  // Elements of a and of b that are made: a few milliseconds.
  static constexpr int64_t kElements = 1 << 17;
  // Rows, and as many columns: of all batches that are looked at, and of each. Nobody but a look
  // sees what a kernel leaves out here, so that one in fifty batches, or columns, shall be met in
  // some look of a race, however long they are.
  static constexpr int64_t kLeast = 16, kLeastOfBatch = 4, kMostOfBatch = 64;
  static constexpr int64_t kLeastBatches = 16, kMostBatches = 64;

  Look(const Base& base, std::span<const std::byte> output, const InputSeeds& seeds,
       ErrorBound bound)
      : base_(base),
        v_(base.view),
        seeds_(seeds),
        out_(with_data(matrix_out(v_), output)),
        random_{seed_from(fmt::format("look {} {} {}", base.seed, seeds.set, seeds.launch)), 0},
        judge_{base, !info(v_.out).floating, bound, budgets_of(base, bound, {}, seeds)} {}

  Check run() {
    const int64_t lines = std::max(kElements / 2 / v_.k, kLeast);
    const std::vector<int64_t> batches =
        choose(v_.l, std::clamp(lines / kLeastOfBatch, kLeastBatches, kMostBatches), random_, 100);
    const int64_t count =
        std::clamp(lines / static_cast<int64_t>(batches.size()), kLeastOfBatch, kMostOfBatch);
    uint64_t stream = 200;
    for (const int64_t batch : batches) {
      std::vector<int64_t> rows = choose(v_.m, count, random_, stream);
      std::vector<int64_t> columns = choose(v_.out_columns, count, random_, stream + kMostOfBatch);
      add_odd(rows, columns);
      compare_part(batch, std::move(rows), std::move(columns));
      stream += 2 * kMostOfBatch;
    }
    return judge_.conclude(v_.l * v_.m * v_.out_columns,
                           fmt::format(method::kSome, judge_.check.compared));
  }

 private:
  // One line that is unlike the others (lines.h) shall be among them.
  void add_odd(std::vector<int64_t>& rows, std::vector<int64_t>& columns) const {
    const bool of_b = looks_along_columns(base_.problem);
    const Renewal renewal = renewal_of(base_.problem, of_b ? 1 : 0, seeds_);
    if (renewal.odd_step <= 0) return;
    const int64_t lines = of_b ? v_.n : v_.m;
    const int64_t odd = (lines - renewal.odd_first - 1) / renewal.odd_step + 1;
    int64_t line = renewal.odd_first + renewal.odd_step * static_cast<int64_t>(random_.below(
                                                              3, static_cast<uint64_t>(odd)));
    if (of_b && base_.epilogue.gate() != nullptr)
      line = base_.epilogue.gate()->is_interleaved() ? line / 2 : line % v_.out_columns;
    std::vector<int64_t>& chosen = of_b ? columns : rows;
    const auto at = std::ranges::lower_bound(chosen, line);
    if (at == chosen.end() || *at != line) chosen.insert(at, line);
  }

  void compare_part(int64_t batch, std::vector<int64_t> rows, std::vector<int64_t> columns) {
    const EpiloguePart part(base_, batch, std::move(rows), std::move(columns));
    const std::vector<int64_t> depth = all_indices(v_.k);
    const MadePart a = make_part(base_, "a", seeds_, batch, part.rows, depth);
    const MadePart b = make_part(base_, "b", seeds_, batch, depth, part.of_product);
    const MadePart c =
        v_.has_c ? make_part(base_, "c", seeds_, batch, part.rows, part.columns) : MadePart{};
    std::vector<MadePart> kept;
    const EpilogueOperands operands = part.operands(base_, seeds_, kept);
    const auto width = static_cast<size_t>(part.view.n);
    std::vector<double> product(part.rows.size() * width), magnitude(product.size());
    multiply(a.matrix, b.matrix, 0, Range::all(part.view.m), Range::all(part.view.n),
             product.data(), magnitude.data());
    EpilogueElements elements(judge_, operands, part.view);
    for (int64_t y = 0; y < part.view.m; ++y) {
      for (int64_t x = 0; x < part.view.out_columns; ++x) {
        const auto own = base_.epilogue.columns(x, part.view.n);
        const int64_t i = part.rows[static_cast<size_t>(y)],
                      j = part.columns[static_cast<size_t>(x)];
        const double got = load_as_double(v_.out, out_.at(batch, i, j));
        const double addend = v_.has_c ? load_as_double(c.matrix.dtype, c.matrix.at(0, y, x)) : 0;
        elements.add({batch, i, j}, 0, y, x, got, [&](size_t which) {
          const size_t at = static_cast<size_t>(y) * width + static_cast<size_t>(own[which]);
          return ElementSum{product[at], magnitude[at], addend};
        });
      }
    }
  }

  const Base& base_;
  const View& v_;
  InputSeeds seeds_;
  Matrix out_;
  CounterRandom random_;
  Judge judge_;
};

}  // namespace

Check compare_epilogue(const Base& base, const Mapping& mapping, const OwnInputs& inputs,
                       std::span<const std::byte> output, ErrorBound bound) {
  return EpilogueComparison(base, mapping, inputs, output, bound).run();
}

Check look_at_epilogue(const Base& base, std::span<const std::byte> output, const InputSeeds& seeds,
                       ErrorBound bound) {
  return Look(base, output, seeds, bound).run();
}

}  // namespace assay::gemm
