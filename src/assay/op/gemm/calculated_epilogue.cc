#include "assay/op/gemm/calculated_epilogue.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <thread>
#include <utility>
#include <vector>

#include "assay/base/parallel.h"
#include "assay/base/random.h"
#include "assay/op/gemm/epilogue_elements.h"
#include "assay/op/gemm/methods.h"

namespace assay::gemm {
namespace {

constexpr double kMostElements = 0x1p15;  // Of a look: steps take some 50 ns each.
constexpr int64_t kRowsOfAJudge = 8;
constexpr double kElementsAtOnce = 0x1p23;  // On the host: 64 MB of each of the sums.
constexpr int64_t kJudgesOfACore = 4;

// Every `step`th index from `first` on.
struct Every {
  int64_t first = 0, step = 1, count = 0;

  static Every all(int64_t size) { return {0, 1, size}; }
  static Every some(int64_t size, double wanted, uint64_t draw) {
    const auto step = std::max(
        int64_t{1}, static_cast<int64_t>(static_cast<double>(size) / std::max(wanted, 1.0)));
    const auto first = static_cast<int64_t>(draw % static_cast<uint64_t>(std::min(step, size)));
    return {first, step, (size - first + step - 1) / step};
  }
  int64_t operator[](int64_t i) const { return first + i * step; }
  Every part(int64_t from, int64_t most) const {
    return {(*this)[from], step, std::min(most, count - from)};
  }
  std::vector<int64_t> indices() const {
    std::vector<int64_t> made;
    for (int64_t i = 0; i < count; ++i) made.push_back((*this)[i]);
    return made;
  }
};

class Calculation {
 public:
  Calculation(Calculator& calculator, const OnCalculator& held, const OwnInputs& inputs,
              const InputSeeds& seeds, Judge& judge)
      : calculator_(calculator),
        held_(held),
        inputs_(inputs),
        seeds_(seeds),
        judge_(judge),
        base_(judge.base),
        v_(base_.view) {}

  Status run() {
    if (seeds_.renewed()) choose();
    for (int64_t l = 0; l < v_.l; ++l) ASSAY_TRY(compare_batch(l));
    return {};
  }

 private:
  void choose() {
    const CounterRandom random{
        seed_from(fmt::format("look {} {} {}", base_.seed, seeds_.set, seeds_.launch)), 0};
    const double sums = gated() ? 2 : 1, batches = static_cast<double>(v_.l);
    const double most = std::min(kMostElements, calculator_.multiplications_of_a_look() /
                                                    (sums * static_cast<double>(v_.k))) /
                        batches;
    // As square as out allows.
    const auto m = static_cast<double>(v_.m), n = static_cast<double>(v_.out_columns);
    const double of_rows = std::min(m, std::max(std::sqrt(most), most / n));
    rows_ = Every::some(v_.m, of_rows, random.bits(1));
    columns_ = Every::some(v_.out_columns, most / of_rows, random.bits(2));
  }

  bool gated() const { return base_.epilogue.gate() != nullptr; }

  // Columns of b that are gates, or what they let through; all that are looked at.
  Calculator::Matrix columns_of_b(int64_t batch, size_t which) const {
    Calculator::Matrix b = batch_of(matrix_b(v_), held_.b, batch);
    const int64_t first = base_.epilogue.columns(columns_.first, v_.n)[which];
    const bool pairs = gated() && base_.epilogue.gate()->is_interleaved();
    b.data = static_cast<const std::byte*>(b.data) + first * b.column_stride * size_bytes(b.dtype);
    b.columns = columns_.count;
    b.column_stride *= columns_.step * (pairs ? 2 : 1);
    return b;
  }

  // `rows` of those that were multiplied, from the `from`th on.
  Result<std::vector<double>> read_sums(const Calculator::Memory& memory, int64_t from,
                                        int64_t rows) {
    std::vector<double> values(static_cast<size_t>(rows * columns_.count));
    ASSAY_TRY(calculator_.read(static_cast<const double*>(memory.data()) + from * columns_.count,
                               std::as_writable_bytes(std::span(values))));
    return values;
  }

  static bool lies_by_rows(const Matrix& matrix) {
    return matrix.column_stride <= matrix.row_stride;
  }

  // The lines of a matrix that are looked at, along its shorter stride, each in one piece; as
  // doubles, row by row.
  Result<std::vector<double>> read_elements(const Matrix& matrix, const void* data, int64_t batch,
                                            const Every& rows) {
    const bool by_rows = lies_by_rows(matrix);
    const Every& lines = by_rows ? rows : columns_;
    const Every& along = by_rows ? columns_ : rows;
    const int64_t line_stride = by_rows ? matrix.row_stride : matrix.column_stride;
    const int64_t stride = by_rows ? matrix.column_stride : matrix.row_stride;
    const int64_t size = size_bytes(matrix.dtype);
    const int64_t span = (along[along.count - 1] - along.first) * stride + 1;
    std::vector<std::byte> line(static_cast<size_t>(span * size));
    std::vector<double> values(static_cast<size_t>(rows.count * columns_.count));
    for (int64_t y = 0; y < lines.count; ++y) {
      const auto* from =
          static_cast<const std::byte*>(data) +
          (batch * matrix.batch_stride + lines[y] * line_stride + along.first * stride) * size;
      ASSAY_TRY(calculator_.read(from, line));
      for (int64_t x = 0; x < along.count; ++x) {
        const double value =
            load_as_double(matrix.dtype, line.data() + x * along.step * stride * size);
        values[static_cast<size_t>(by_rows ? y * columns_.count + x : x * columns_.count + y)] =
            value;
      }
    }
    return values;
  }

  // Multiplied at once, compared in strips of rows: the host's memory for the whole would be
  // several times the kernel's. Where out lies by columns, a strip would be a piece of each line.
  Status compare_batch(int64_t batch) {
    std::vector<Calculator::Product> made;
    const auto a = batch_of(matrix_a(v_), held_.a, batch).every(rows_.first, rows_.step);
    for (size_t which = 0; which < (gated() ? 2U : 1U); ++which) {
      ASSAY_TRY(made.emplace_back(), calculator_.multiply(a, columns_of_b(batch, which)));
    }
    const bool by_rows = lies_by_rows(matrix_out(v_)) && (!v_.has_c || lies_by_rows(matrix_c(v_)));
    const int64_t most = by_rows ? rows_at_once() : std::max(rows_.count, int64_t{1});
    for (int64_t from = 0; from < rows_.count; from += most)
      ASSAY_TRY(compare_rows(batch, made, from, rows_.part(from, most)));
    return {};
  }

  // Work for every core.
  int64_t rows_at_once() const {
    const double columns = static_cast<double>(std::max(columns_.count, int64_t{1}));
    const auto cores = static_cast<int64_t>(std::max(1U, std::thread::hardware_concurrency()));
    return std::clamp(static_cast<int64_t>(kElementsAtOnce / columns), int64_t{1},
                      kRowsOfAJudge * kJudgesOfACore * cores);
  }

  Status compare_rows(int64_t batch, const std::vector<Calculator::Product>& made, int64_t from,
                      const Every& rows) {
    std::array<std::vector<double>, 2> products, magnitudes;
    for (size_t which = 0; which < made.size(); ++which) {
      ASSAY_TRY(products[which], read_sums(*made[which].product, from, rows.count));
      ASSAY_TRY(magnitudes[which], read_sums(*made[which].magnitude, from, rows.count));
    }
    ASSAY_TRY(const auto got, read_elements(matrix_out(v_), held_.out, batch, rows));
    std::vector<double> addends(got.size());
    if (v_.has_c) {
      ASSAY_TRY(addends, read_elements(matrix_c(v_), held_.c, batch, rows));
    }
    const bool renewed = seeds_.renewed();
    std::vector<MadePart> kept;
    const EpiloguePart part(base_, batch, rows.indices(), columns_.indices());
    const EpilogueOperands operands =
        renewed ? part.operands(base_, seeds_, kept) : epilogue_operands(base_, inputs_.more);
    const int64_t strips = (rows.count + kRowsOfAJudge - 1) / kRowsOfAJudge;
    std::vector<Judge> judges(static_cast<size_t>(strips),
                              Judge{base_, judge_.exact, judge_.bound, judge_.budgets});
    for_each_parallel(judges.size(), [&](size_t strip) {
      EpilogueElements elements(judges[strip], operands, renewed ? part.view : v_);
      const int64_t first = static_cast<int64_t>(strip) * kRowsOfAJudge;
      for (int64_t y = first; y < std::min(first + kRowsOfAJudge, rows.count); ++y) {
        for (int64_t x = 0; x < columns_.count; ++x) {
          const auto at = static_cast<size_t>(y * columns_.count + x);
          const int64_t i = rows[y], j = columns_[x];
          elements.add({batch, i, j}, renewed ? 0 : batch, renewed ? y : i, renewed ? x : j,
                       got[at], [&](size_t which) {
                         return ElementSum{products[which][at], magnitudes[which][at], addends[at]};
                       });
        }
      }
    });
    for (const Judge& judge : judges) judge_.add(judge);
    return {};
  }

  Calculator& calculator_;
  const OnCalculator& held_;
  const OwnInputs& inputs_;
  InputSeeds seeds_;
  Judge& judge_;
  const Base& base_;
  const View& v_;
  Every rows_ = Every::all(v_.m), columns_ = Every::all(v_.out_columns);
};

}  // namespace

Calculator::Matrix batch_of(const Matrix& matrix, const void* data, int64_t batch) {
  const auto* start =
      static_cast<const std::byte*>(data) + batch * matrix.batch_stride * size_bytes(matrix.dtype);
  return {start,          matrix.dtype,      matrix.rows,
          matrix.columns, matrix.row_stride, matrix.column_stride};
}

Result<Check> check_epilogue_on(Calculator& calculator, const OnCalculator& held,
                                const OwnInputs& inputs, const InputSeeds& seeds, Judge judge) {
  ASSAY_TRY(Calculation(calculator, held, inputs, seeds, judge).run());
  const View& v = judge.base.view;
  const int64_t elements = v.l * v.m * v.out_columns;
  const bool to_the_bit = judge.exact && judge.base.epilogue.keeps_integers();
  std::string method(to_the_bit ? method::kEveryBit : method::kEvery);
  if (judge.check.compared < elements) method = fmt::format(method::kSome, judge.check.compared);
  return judge.conclude(elements, std::move(method));
}

}  // namespace assay::gemm
