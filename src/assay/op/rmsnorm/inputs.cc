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
constexpr int64_t kPieceElements = 1 << 18;  // Worth a thread.

enum Stream : uint64_t { kValues = 1, kExponents = 3, kRows = 5, kColumns = 7, kPlaces = 9 };

Result<MemoryFile> allocate(const Operand& operand) {
  ASSAY_TRY(MemoryFile file,
            MemoryFile::create("assay-input", static_cast<size_t>(operand.span_bytes)));
  std::ranges::fill(file.writable_bytes(), kFiller);
  return file;
}

template <class Use>
void for_each_row(const View& view, Use use) {
  const int64_t strip = std::max(int64_t{1}, kPieceElements / view.n);
  for_each_parallel(static_cast<size_t>((view.m + strip - 1) / strip), [&](size_t piece) {
    const int64_t first = static_cast<int64_t>(piece) * strip;
    for (int64_t i = first; i < std::min(view.m, first + strip); ++i) use(i);
  });
}

// Exponents of the values of wide_range: of rows and, on top, of columns and of w.
struct Exponents {
  int row_low, row_high, column_low, column_high, weight_low, weight_high;
};
Exponents exponents_of(const View& view) {
  // What f16 holds is 2^-14 to 2^15; squares of the others stay far inside of f32.
  if (view.x == DType::f16) return {-11, 12, -3, 2, -10, -1};
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
    fill();
    ASSAY_TRY(inputs_.x.seal());
    ASSAY_TRY(inputs_.w.seal());
    return std::move(inputs_);
  }

 private:
  void fill() {
    switch (kind_) {
      case InputKind::zeros:
        fill_x([](int64_t, int64_t) { return 0.0; });
        return fill_uniform(kW);
      case InputKind::ones:
        fill_x([](int64_t, int64_t) { return 1.0; });
        return fill_w([](int64_t) { return 1.0; });
      case InputKind::needle:
        return fill_needles();
      case InputKind::wide_range:
        return fill_wide_range();
      default:
        fill_uniform(kX);
        fill_uniform(kW);
        if (kind_ == InputKind::non_finite) place_specials();
    }
  }

  std::span<std::byte> bytes(size_t operand) {
    return operand == kX ? inputs_.x.writable_bytes() : inputs_.w.writable_bytes();
  }
  // As timed launches have them.
  void fill_uniform(size_t operand) {
    renew(renewal_of(problem_, view_, operand, {.set = key_, .launch = key_}), bytes(operand));
  }

  template <class Value>
  void fill_x(Value value) {
    std::byte* const to = bytes(kX).data();
    for_each_row(view_, [&](int64_t i) {
      std::vector<double> row(static_cast<size_t>(view_.n));
      for (int64_t j = 0; j < view_.n; ++j) row[static_cast<size_t>(j)] = value(i, j);
      convert_from_double(view_.x, row.data(), view_.n, to + i * view_.x_m * size_bytes(view_.x));
    });
  }
  template <class Value>
  void fill_w(Value value) {
    std::vector<double> row(static_cast<size_t>(view_.n));
    for (int64_t j = 0; j < view_.n; ++j) row[static_cast<size_t>(j)] = value(j);
    convert_from_double(view_.w, row.data(), view_.n, bytes(kW).data());
  }

  uint64_t below(Stream stream, int64_t index, int64_t bound) const {
    return CounterRandom{key_, stream}.below(static_cast<uint64_t>(index),
                                             static_cast<uint64_t>(bound));
  }
  int exponent(Stream stream, int64_t index, int low, int high) const {
    return low + static_cast<int>(below(stream, index, high - low + 1));
  }
  // Of magnitude [0.5, 1).
  double value(Stream stream, int64_t index) const {
    const double u = CounterRandom{key_, stream}.uniform(static_cast<uint64_t>(index));
    return (u < 0 ? u - 1 : u + 1) / 2;
  }

  // Each row has one, at a place of its own: what a sum leaves out is found in some row. Of the
  // first row it is the last element, which is the one that is forgotten.
  void fill_needles() {
    const int high = view_.x == DType::f16 ? 15 : 40;
    fill_x([&](int64_t i, int64_t j) {
      const int64_t place = i == 0 ? view_.n - 1 : static_cast<int64_t>(below(kPlaces, i, view_.n));
      if (j != place) return 0.0;
      return std::ldexp(value(kValues, i), exponent(kExponents, i, high - 4, high));
    });
    fill_uniform(kW);
  }

  // Every third row is of epsilon's own size, so that who leaves that out is off by much.
  void fill_wide_range() {
    const Exponents by = exponents_of(view_);
    const int of_epsilon = std::clamp(std::ilogb(view_.epsilon) / 2, by.row_low, by.row_high);
    fill_x([&](int64_t i, int64_t j) {
      const int row = i % 3 == 0 ? of_epsilon : exponent(kRows, i, by.row_low, by.row_high);
      const int64_t at = i * view_.n + j;
      return std::ldexp(value(kValues, at),
                        row + exponent(kExponents, at, by.column_low, by.column_high));
    });
    fill_w([&](int64_t j) {
      return std::ldexp(value(kColumns, j), exponent(kPlaces, j, by.weight_low, by.weight_high));
    });
  }

  void put_x(int64_t i, int64_t j, double special) {
    store_from_double(view_.x, special,
                      bytes(kX).data() + (i * view_.x_m + j) * size_bytes(view_.x));
  }

  // In rows and columns of their own, so that most outputs stay finite.
  void place_specials() {
    const double values[] = {kNan, kInfinity, -kInfinity};
    const auto row = static_cast<int64_t>(below(kRows, 0, view_.m));
    const auto column = static_cast<int64_t>(below(kColumns, 0, view_.n));
    for (int64_t i = 0; i < 3; ++i) {
      if (i + 1 < view_.m || (i == 0 && view_.n == 1))
        put_x((row + i) % view_.m, static_cast<int64_t>(below(kPlaces, i, view_.n)),
              values[static_cast<size_t>(i)]);
      if (i + 1 < view_.n)
        store_from_double(view_.w, values[static_cast<size_t>(2 - i)],
                          bytes(kW).data() + (column + i) % view_.n * size_bytes(view_.w));
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
  const auto x_size = static_cast<size_t>(size_bytes(view.x));
  const auto w_size = static_cast<size_t>(size_bytes(view.w));
  Inputs made;
  ASSAY_TRY(made.x, MemoryFile::create("assay-input", inputs.x.bytes().size()));
  ASSAY_TRY(made.w, MemoryFile::create("assay-input", inputs.w.bytes().size()));
  std::byte *const to_x = made.x.writable_bytes().data(), *to_w = made.w.writable_bytes().data();
  std::ranges::fill(made.x.writable_bytes(), kFiller);
  for_each_row(view, [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    const std::byte* from =
        inputs.x.bytes().data() + static_cast<size_t>(rows.from[at] * view.x_m) * x_size;
    std::byte* to = to_x + static_cast<size_t>(i * view.x_m) * x_size;
    for (size_t j = 0; j < columns.from.size(); ++j)
      copy_element(from + static_cast<size_t>(columns.from[j]) * x_size, to + j * x_size, x_size,
                   rows.negative[at] != columns.negative[j]);
  });
  for (size_t j = 0; j < columns.from.size(); ++j)
    copy_element(inputs.w.bytes().data() + static_cast<size_t>(columns.from[j]) * w_size,
                 to_w + j * w_size, w_size, weights.negative[j] != 0);
  ASSAY_TRY(made.x.seal());
  ASSAY_TRY(made.w.seal());
  return made;
}

Renewal renewal_of(const Problem& problem, const View& view, size_t operand,
                   const InputSeeds& seeds) {
  Renewal renewal;
  renewal.sizes = {0, 0, 0};
  if (operand != kX && operand != kW) return renewal;
  const Operand& which = problem.operands()[operand];
  renewal.dtype = which.dtype;
  renewal.key = varies(which) ? seeds.launch : seeds.set;
  renewal.stream = operand + 1;
  renewal.sizes = {1, operand == kX ? view.m : 1, view.n};
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
  if (operand != kX && operand != kW) return {};
  std::vector<std::byte> bytes(static_cast<size_t>(problem.operands()[operand].span_bytes),
                               kFiller);
  renew(renewal_of(problem, view, operand, seeds), bytes);
  return bytes;
}

}  // namespace assay::rmsnorm
