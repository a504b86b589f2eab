#include "assay/op/rmsnorm/inputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "assay/base/parallel.h"
#include "assay/base/random.h"

namespace assay::rmsnorm {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// Between strided rows, as in every operation's inputs: a NaN of each of our types.
constexpr std::byte kFiller{0xff};
constexpr int64_t kStripElements = 1 << 18;  // Worth a thread.

enum Stream : uint64_t { kValues = 1, kExponents = 3, kRows = 5, kColumns = 7, kPlaces = 9 };
// Of residual's values and exponents: streams of their own.
constexpr uint64_t kOfResidual = 16;

// An input of m rows.
struct Rows {
  DType dtype;
  int64_t stride;
};
Rows rows_of(const View& view, size_t operand) {
  return operand == kX ? Rows{view.x, view.x_m} : Rows{view.residual, view.residual_m};
}

Result<MemoryFile> allocate(const Operand& operand) {
  ASSAY_TRY(MemoryFile file,
            MemoryFile::create("assay-input", static_cast<size_t>(operand.span_bytes)));
  std::ranges::fill(file.writable_bytes(), kFiller);
  return file;
}

template <class Use>
void for_each_row(const View& view, Use use) {
  const int64_t strip = std::max(int64_t{1}, kStripElements / view.n);
  for_each_parallel(static_cast<size_t>((view.m + strip - 1) / strip), [&](size_t piece) {
    const int64_t first = static_cast<int64_t>(piece) * strip;
    for (int64_t i = first; i < std::min(view.m, first + strip); ++i) use(i);
  });
}

// Exponents of the values of wide_range: of rows and, on top, of columns and of w.
struct Exponents {
  int row_low, row_high, column_low, column_high, weight_low, weight_high;
};
Exponents exponents_of(const View& view, size_t operand) {
  // What f16 holds is 2^-14 to 2^15, sums of two included; squares of the others stay far inside of
  // f32.
  if (rows_of(view, operand).dtype == DType::f16 || (view.adds && view.residual == DType::f16))
    return {-11, 12, -3, 2, -10, -1};
  return {-30, 30, -6, 5, -10, -1};
}

class Maker {
 public:
  Maker(const Problem& problem, const View& view, InputKind kind, uint64_t seed)
      : problem_(problem),
        view_(view),
        kind_(kind),
        key_(seed_from(fmt::format("{} {} {}", problem.signature(), to_string(kind), seed))) {}

  Result<Inputs> run() {
    ASSAY_TRY(inputs_.x, allocate(problem_.operands()[kX]));
    ASSAY_TRY(inputs_.w, allocate(problem_.operands()[kW]));
    if (view_.adds) {
      ASSAY_TRY(inputs_.residual, allocate(problem_.operands()[kResidual]));
    }
    fill_w();
    fill_rows(kX);
    if (view_.adds) fill_rows(kResidual);
    if (kind_ == InputKind::non_finite) place_specials();
    ASSAY_TRY(inputs_.x.seal());
    ASSAY_TRY(inputs_.w.seal());
    if (view_.adds) ASSAY_TRY(inputs_.residual.seal());
    return std::move(inputs_);
  }

 private:
  void fill_w() {
    if (kind_ == InputKind::ones) return fill_w([](int64_t) { return 1.0; });
    if (kind_ != InputKind::wide_range) return fill_uniform(kW);
    const Exponents by = exponents_of(view_, kX);
    fill_w([&](int64_t j) {
      return std::ldexp(value(kColumns, j), exponent(kPlaces, j, by.weight_low, by.weight_high));
    });
  }

  void fill_rows(size_t operand) {
    switch (kind_) {
      case InputKind::zeros:
        return fill(operand, [](int64_t, int64_t) { return 0.0; });
      case InputKind::ones:
        return fill(operand, [](int64_t, int64_t) { return 1.0; });
      case InputKind::needle:
        return fill_needles(operand);
      case InputKind::wide_range:
        return fill_wide_range(operand);
      default:
        return fill_uniform(operand);
    }
  }

  std::span<std::byte> bytes(size_t operand) {
    MemoryFile& file = operand == kX ? inputs_.x : operand == kW ? inputs_.w : inputs_.residual;
    return file.writable_bytes();
  }
  // As timed launches have them.
  void fill_uniform(size_t operand) {
    renew(renewal_of(problem_, view_, operand, {.set = key_, .launch = key_}), bytes(operand));
  }

  template <class Value>
  void fill(size_t operand, Value value) {
    const Rows rows = rows_of(view_, operand);
    std::byte* const to = bytes(operand).data();
    for_each_row(view_, [&](int64_t i) {
      std::vector<double> row(static_cast<size_t>(view_.n));
      for (int64_t j = 0; j < view_.n; ++j) row[static_cast<size_t>(j)] = value(i, j);
      convert_from_double(rows.dtype, row.data(), view_.n,
                          to + i * rows.stride * size_bytes(rows.dtype));
    });
  }
  template <class Value>
  void fill_w(Value value) {
    std::vector<double> row(static_cast<size_t>(view_.n));
    for (int64_t j = 0; j < view_.n; ++j) row[static_cast<size_t>(j)] = value(j);
    convert_from_double(view_.w, row.data(), view_.n, bytes(kW).data());
  }

  uint64_t below(uint64_t stream, int64_t index, int64_t bound) const {
    return CounterRandom{key_, stream}.below(static_cast<uint64_t>(index),
                                             static_cast<uint64_t>(bound));
  }
  int exponent(uint64_t stream, int64_t index, int low, int high) const {
    return low + static_cast<int>(below(stream, index, high - low + 1));
  }
  // Of magnitude [0.5, 1).
  double value(uint64_t stream, int64_t index) const {
    const double u = CounterRandom{key_, stream}.uniform(static_cast<uint64_t>(index));
    return (u < 0 ? u - 1 : u + 1) / 2;
  }

  static uint64_t stream_of(size_t operand) { return operand == kX ? 0 : kOfResidual; }

  // Each row has one, at a place of its own: what a sum leaves out is found in some row. Of the
  // first row it is the last element, which is the one that is forgotten. Where a residual is added
  // every other row has it there.
  void fill_needles(size_t operand) {
    const int high = exponents_of(view_, operand).row_high == 12 ? 15 : 40;
    fill(operand, [&](int64_t i, int64_t j) {
      const int64_t place = i == 0 ? view_.n - 1 : static_cast<int64_t>(below(kPlaces, i, view_.n));
      const bool here = !view_.adds || (i % 2 == 0) == (operand == kX);
      if (j != place || !here) return 0.0;
      return std::ldexp(value(kValues, i), exponent(kExponents, i, high - 4, high));
    });
  }

  // Every third row is of epsilon's own size, so that who leaves that out is off by much.
  void fill_wide_range(size_t operand) {
    const Exponents by = exponents_of(view_, operand);
    const int of_epsilon = std::clamp(std::ilogb(view_.epsilon) / 2, by.row_low, by.row_high);
    const uint64_t stream = stream_of(operand);
    fill(operand, [&](int64_t i, int64_t j) {
      const int row =
          i % 3 == 0 ? of_epsilon : exponent(kRows + stream, i, by.row_low, by.row_high);
      const int64_t at = i * view_.n + j;
      return std::ldexp(value(kValues + stream, at),
                        row + exponent(kExponents + stream, at, by.column_low, by.column_high));
    });
  }

  void put(size_t operand, int64_t i, int64_t j, double special) {
    const Rows rows = rows_of(view_, operand);
    store_from_double(rows.dtype, special,
                      bytes(operand).data() + (i * rows.stride + j) * size_bytes(rows.dtype));
  }

  // In rows and columns of their own, so that most outputs stay finite.
  void place_specials() {
    const double values[] = {kNan, kInfinity, -kInfinity};
    const auto row = static_cast<int64_t>(below(kRows, 0, view_.m));
    const auto column = static_cast<int64_t>(below(kColumns, 0, view_.n));
    for (int64_t i = 0; i < 3; ++i) {
      if (i + 1 < view_.m || (i == 0 && view_.n == 1))
        put(kX, (row + i) % view_.m, static_cast<int64_t>(below(kPlaces, i, view_.n)),
            values[static_cast<size_t>(i)]);
      if (i + 1 < view_.n)
        store_from_double(view_.w, values[static_cast<size_t>(2 - i)],
                          bytes(kW).data() + (column + i) % view_.n * size_bytes(view_.w));
      if (view_.adds && i + 4 < view_.m)
        put(kResidual, (row + 3 + i) % view_.m,
            static_cast<int64_t>(below(kPlaces + kOfResidual, i, view_.n)),
            values[static_cast<size_t>(i)]);
    }
  }

  const Problem& problem_;
  const View& view_;
  InputKind kind_;
  uint64_t key_;
  Inputs inputs_;
};

struct Axis {
  std::vector<int64_t> from;
  std::vector<uint8_t> negative;

  Axis(int64_t size, uint64_t seed, uint64_t stream)
      : from(static_cast<size_t>(size)), negative(static_cast<size_t>(size)) {
    const CounterRandom order{seed, stream}, signs{seed, stream + 1};
    std::iota(from.begin(), from.end(), int64_t{0});
    for (size_t i = from.size(); i-- > 1;) std::swap(from[i], from[order.below(i, i + 1)]);
    for (size_t i = 0; i < negative.size(); ++i)
      negative[i] = static_cast<uint8_t>(signs.bits(i) & 1);
  }
};

// The sign is the last byte's first bit in all of our floating types.
void copy_element(const std::byte* from, std::byte* to, size_t size, bool negative) {
  std::memcpy(to, from, size);
  if (negative) to[size - 1] ^= std::byte{0x80};
}

// As permute() has it, of an input of m rows.
Result<MemoryFile> permute_rows(const View& view, size_t operand, const MemoryFile& input,
                                const Axis& rows, const Axis& columns) {
  const Rows own = rows_of(view, operand);
  const auto size = static_cast<size_t>(size_bytes(own.dtype));
  ASSAY_TRY(MemoryFile made, MemoryFile::create("assay-input", input.bytes().size()));
  std::byte* const begin = made.writable_bytes().data();
  std::ranges::fill(made.writable_bytes(), kFiller);
  for_each_row(view, [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    const std::byte* from =
        input.bytes().data() + static_cast<size_t>(rows.from[at] * own.stride) * size;
    std::byte* to = begin + static_cast<size_t>(i * own.stride) * size;
    for (size_t j = 0; j < columns.from.size(); ++j)
      copy_element(from + static_cast<size_t>(columns.from[j]) * size, to + j * size, size,
                   rows.negative[at] != columns.negative[j]);
  });
  ASSAY_TRY(made.seal());
  return made;
}

}  // namespace

std::vector<InputKind> useful_input_kinds(const View&) {
  return {InputKind::uniform, InputKind::wide_range, InputKind::needle,
          InputKind::zeros,   InputKind::ones,       InputKind::non_finite};
}

Result<Inputs> make_inputs(const Problem& problem, const View& view, InputKind kind,
                           uint64_t seed) {
  const auto known = useful_input_kinds(view);
  if (std::ranges::find(known, kind) == known.end())
    return fail(ErrorCode::unsupported, "{}: {} inputs say nothing of an rmsnorm", problem.name(),
                to_string(kind));
  return Maker(problem, view, kind, seed).run();
}

Result<Inputs> permute(const View& view, const Inputs& inputs, uint64_t seed) {
  const Axis rows(view.m, seed, kRows), columns(view.n, seed, kColumns);
  const Axis weights(view.n, seed, kPlaces);  // For its signs alone.
  const auto w_size = static_cast<size_t>(size_bytes(view.w));
  Inputs made;
  ASSAY_TRY(made.x, permute_rows(view, kX, inputs.x, rows, columns));
  if (view.adds) {
    ASSAY_TRY(made.residual, permute_rows(view, kResidual, inputs.residual, rows, columns));
  }
  ASSAY_TRY(made.w, MemoryFile::create("assay-input", inputs.w.bytes().size()));
  std::byte* const to_w = made.w.writable_bytes().data();
  for (size_t j = 0; j < columns.from.size(); ++j)
    copy_element(inputs.w.bytes().data() + static_cast<size_t>(columns.from[j]) * w_size,
                 to_w + j * w_size, w_size, weights.negative[j] != 0);
  ASSAY_TRY(made.w.seal());
  return made;
}

Renewal renewal_of(const Problem& problem, const View& view, size_t operand,
                   const InputSeeds& seeds) {
  Renewal renewal;
  renewal.sizes = {0, 0, 0};
  if (operand == kOut || operand >= problem.operands().size()) return renewal;
  const Operand& which = problem.operands()[operand];
  renewal.dtype = which.dtype;
  renewal.key = varies(which) ? seeds.launch : seeds.set;
  renewal.stream = operand + 1;
  renewal.sizes = {1, operand == kW ? 1 : view.m, view.n};
  renewal.strides = {which.strides[0], which.strides[0], 1};
  if (operand == kW) return renewal;
  constexpr uint64_t kOddRows = 0x6f6464;  // A stream of its own.
  // Odd rows are made one element at a time. Of a single row every other launch has one.
  const int64_t step = std::clamp(view.m / 4, int64_t{2}, int64_t{64});
  renewal.odd_dimension = 1;
  renewal.odd_step = step;
  renewal.odd_first = static_cast<int64_t>(
      CounterRandom{renewal.key, kOddRows}.below(0, static_cast<uint64_t>(step)));
  renewal.parts = 1;
  renewal.part = view.n;
  renewal.high = 0;
  renewal.reach = 8;  // 2^-8: the mean of their squares is 7/12 / 9 * 4/3, others' 1/3.
  return renewal;
}

std::vector<std::byte> renewed(const Problem& problem, const View& view, size_t operand,
                               const InputSeeds& seeds) {
  if (operand == kOut || operand >= problem.operands().size()) return {};
  std::vector<std::byte> bytes(static_cast<size_t>(problem.operands()[operand].span_bytes),
                               kFiller);
  renew(renewal_of(problem, view, operand, seeds), bytes);
  return bytes;
}

}  // namespace assay::rmsnorm
