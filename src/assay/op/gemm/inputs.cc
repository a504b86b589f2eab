#include "assay/op/gemm/inputs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "assay/base/parallel.h"
#include "assay/base/random.h"
#include "assay/op/gemm/epilogue.h"
#include "assay/op/gemm/instance.h"
#include "assay/op/gemm/lines.h"
#include "assay/op/gemm/ranges.h"

namespace assay::gemm {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

enum Stream : uint64_t {
  kA = 1,
  kB = 2,
  kC = 3,
  kRows = 4,
  kColumns = 5,
  kPlaces = 6,
  kEpilogue = 16,  // And one for each step behind it.
};

// The integer part of what is not negative: a conversion, where floor() is a call.
double whole(double value) { return static_cast<double>(static_cast<int64_t>(value)); }

// 52 random bits of a uniform value in [-1, 1), which + 3 brings to one exponent.
uint64_t mantissa_bits(double uniform) {
  return std::bit_cast<uint64_t>(uniform + 3) & ((uint64_t{1} << 52) - 1);
}

// A value of magnitude [0.5, 1) whose bits behind each place where a narrower format would cut
// (4, 8, 11, 16 and 24 significant bits) are 011, so that it rounds towards zero there, or 101, so
// that it rounds away: rounding errors of many such values add up instead of averaging out.
double one_sided(uint64_t bits, int significand_bits, bool towards_zero) {
  uint64_t field = bits;
  for (int place : {4, 8, 11, 16, 24}) {
    if (place + 3 > significand_bits) break;
    const int shift = 53 - place - 3;
    field = (field & ~(uint64_t{7} << shift)) | uint64_t{towards_zero ? 3u : 5u} << shift;
  }
  field &= ~((uint64_t{1} << (53 - significand_bits)) - 1);
  return std::bit_cast<double>(uint64_t{1022} << 52 | field);
}

class Generator {
 public:
  Generator(const Problem& problem, const View& view, InputKind kind, uint64_t seed)
      : view_(view),
        kind_(kind),
        ranges_(view),
        integer_(ranges_.integers),
        limit_(ranges_.limit),
        factor_(ranges_.factor),
        plan_lines_(plan_lines(problem, view)) {
    key_ = seed_from(fmt::format("{} {} {}", problem.signature(), to_string(kind), seed));
  }

  Result<Inputs> run(const Problem& problem) {
    if (integer_ || kind_ == InputKind::exact || kind_ == InputKind::exact_blocks) {
      ASSAY_TRY(inputs_.limits, exact_limits(view_));
      inputs_.exact = true;
    }
    if (integer_ && factor_ * static_cast<double>(view_.k) > limit_) {
      return fail(ErrorCode::unsupported, "alpha: {} lets sums of {} products leave s32",
                  view_.alpha, view_.k);
    }
    ASSAY_TRY(inputs_.a, allocate_input(*problem.find_operand("a")));
    ASSAY_TRY(inputs_.b, allocate_input(*problem.find_operand("b")));
    a_ = with_data(matrix_a(view_), inputs_.a.writable_bytes());
    b_ = with_data(matrix_b(view_), inputs_.b.writable_bytes());
    c_ = matrix_c(view_);
    c_.batches = 0;
    if (const Operand* c = problem.find_operand("c")) {
      ASSAY_TRY(inputs_.c, allocate_input(*c));
      c_ = with_data(matrix_c(view_), inputs_.c.writable_bytes());
    }
    ASSAY_TRY(const Epilogue epilogue, epilogue_of(problem));
    bends_ = !integer_ && !std::ranges::all_of(epilogue.steps(), &EpilogueStep::has_operand);
    fill_kind();
    for (const EpilogueStep& step : epilogue.steps()) {
      if (!step.has_operand()) continue;
      const Operand& operand = *problem.find_operand(step.name());
      ASSAY_TRY(MemoryFile made, allocate_input(operand));
      const auto stream = static_cast<Stream>(kEpilogue + static_cast<uint64_t>(step.kind));
      fill_epilogue(step, with_data(matrix_of(operand), made.writable_bytes()), stream);
      ASSAY_TRY(made.seal());
      inputs_.more.push_back(std::move(made));
    }
    for (MemoryFile* input : {&inputs_.a, &inputs_.b, &inputs_.c}) ASSAY_TRY(input->seal());
    return std::move(inputs_);
  }

 private:
  // Writes value(uniform, row, column) to every element; uniform is in [-1, 1).
  template <class Make>
  void fill(const Matrix& matrix, Stream stream, Make value) {
    const CounterRandom random{key_, stream};
    for_each_tile_parallel(matrix, [&](int64_t batch, Range rows, Range columns, double* tile) {
      for (int64_t i = 0; i < rows.count; ++i) {
        double* line = tile + i * columns.count;
        const int64_t first = (batch * matrix.rows + rows[i]) * matrix.columns + columns.first;
        random.fill_uniform(static_cast<uint64_t>(first),
                            std::span<double>(line, static_cast<size_t>(columns.count)));
        for (int64_t j = 0; j < columns.count; ++j) line[j] = value(line[j], rows[i], columns[j]);
      }
      store_tile(matrix, batch, rows, columns, tile);
    });
  }

  void fill_constant(const Matrix& matrix, double constant) {
    const std::vector<double> tile(kTileElements, constant);
    for_each_tile_parallel(matrix, [&](int64_t batch, Range rows, Range columns, double*) {
      store_tile(matrix, batch, rows, columns, tile.data());
    });
  }

  void fill_uniform(const Matrix& matrix, Stream stream, double scale) {
    if (!integer_ || stream == kC) {
      fill(matrix, stream, [=](double u, int64_t, int64_t) { return u * scale; });
      return;
    }
    const auto most = static_cast<double>(ranges_.most_integer());
    const double low = most == 127 ? -128 : -most;
    fill(matrix, stream,
         [=](double u, int64_t, int64_t) { return whole((u + 1) / 2 * (most - low + 1)) + low; });
  }

  // Uniform a and b, and lines among them that are not (lines.h).
  void fill_lines() {
    const LinePlan plan = plan_lines_;
    const int64_t lines = plan.lines, k = view_.k;
    Lines& made = inputs_.lines;
    made.mean_product = plan.mean_product;
    made.counting = plan.counting;
    made.quiet = plan.quiet;
    const CounterRandom random{key_, plan.of_b ? kColumns : kRows};
    uint64_t drawn = 0;
    const auto below = [&](int64_t bound) {
      return static_cast<int64_t>(random.below(drawn++, static_cast<uint64_t>(bound)));
    };
    // By line, where the elements lie that are unlike the others of it; ascending.
    std::vector<uint8_t> is_odd(static_cast<size_t>(lines));
    std::map<int64_t, std::vector<int64_t>> odd;
    const auto choose = [&](int64_t line, int64_t count) {
      is_odd[static_cast<size_t>(line)] = count > 0 ? 1 : 0;
      auto& places = odd[line];
      while (static_cast<int64_t>(places.size()) < count) {
        const int64_t place = below(k);
        const auto at = std::lower_bound(places.begin(), places.end(), place);
        if (at == places.end() || *at != place) places.insert(at, place);
      }
    };
    if (!plan.has_wide()) {
      choose(0, k / LinePlan::kForEachSmall);
    } else {
      constexpr int64_t kMostWide = 4;
      const int64_t wanted = std::min(kMostWide, 1 + (lines - 1) / LinePlan::kLinesForEach);
      while (static_cast<int64_t>(made.wide.size()) < wanted) {
        const int64_t line = below(lines);
        if (std::ranges::find(made.wide, line) != made.wide.end()) continue;
        made.wide.push_back(line);
        choose(line, made.counting);
      }
      (plan.of_b ? inputs_.columns : inputs_.rows) = made.wide;
      inputs_.batch = below(view_.l);
    }
    std::vector<double> powers;
    for (int e = plan.low; e <= plan.high; ++e) powers.push_back(std::ldexp(plan.scale, e));
    const auto value = [&](double u, int64_t line, int64_t p) {
      if (is_odd[static_cast<size_t>(line)] == 0) return u * plan.scale;
      const bool is_there = std::ranges::binary_search(odd.find(line)->second, p);
      if (!plan.has_wide() && !is_there) return u * plan.scale;
      const double size = (u < 0 ? u - 1 : u + 1) / 2;
      if (plan.has_wide() && is_there) return size * plan.scale;
      return size * powers[(mantissa_bits(u) & 0xffff) % powers.size()];
    };
    if (plan.of_b) {
      fill_uniform(a_, kA, 1);
      fill(b_, kB, [&](double u, int64_t p, int64_t j) { return value(u, j, p); });
    } else {
      fill(a_, kA, [&](double u, int64_t i, int64_t p) { return value(u, i, p); });
      fill_uniform(b_, kB, 1);
    }
    fill_c(1);
  }

  std::vector<double> random_signs(Stream stream, int64_t count) const {
    const CounterRandom random{key_, stream};
    std::vector<double> signs(static_cast<size_t>(count));
    for (size_t i = 0; i < signs.size(); ++i) signs[i] = random.bits(i) & 1 ? -1 : 1;
    return signs;
  }

  void fill_c(double amplitude) {
    if (inputs_.exact) {
      const auto most = static_cast<double>(inputs_.limits.c);
      fill(c_, kC,
           [=](double u, int64_t, int64_t) { return whole((u + 1) / 2 * (2 * most + 1)) - most; });
      return;
    }
    fill_uniform(c_, kC, amplitude * ranges_.scale_c());
  }

  // Zeros everywhere else leave what the steps do alone: then operands reach to where functions
  // bend.
  void fill_epilogue(const EpilogueStep& step, const Matrix& matrix, Stream stream) {
    if (inputs_.exact) {
      const auto most = static_cast<double>(inputs_.limits.addend);
      if (step.is_addend()) {
        fill(matrix, stream, [=](double u, int64_t, int64_t) {
          return whole((u + 1) / 2 * (2 * most + 1)) - most;
        });
      } else {
        fill(matrix, stream, [](double u, int64_t, int64_t) {
          const double size = std::fabs(u) < 0.5 ? 1 : 2;
          return u < 0 ? -size : size;
        });
      }
    } else if (kind_ == InputKind::ones) {
      fill_constant(matrix, 1);
    } else {
      const double reach = kind_ == InputKind::zeros && step.is_addend() ? 4 : 1;
      fill(matrix, stream, [=](double u, int64_t, int64_t) { return u * reach; });
    }
  }

  void fill_kind() {
    const auto k = static_cast<double>(view_.k);
    switch (kind_) {
      case InputKind::uniform:
        if (!integer_) return fill_lines();
        [[fallthrough]];
      case InputKind::non_finite:
        fill_uniform(a_, kA, ranges_.scale_a());
        fill_uniform(b_, kB, 1);
        fill_c(1);
        if (kind_ == InputKind::non_finite) place_specials();
        if (integer_) place_lowest();
        return;
      case InputKind::exact:
        return fill_exact(plan_exact(view_, inputs_.limits, key_));
      case InputKind::exact_blocks:
        return fill_exact(plan_exact_blocks(view_, inputs_.limits));
      case InputKind::wide_range:
        return fill_wide_range();
      case InputKind::cancellation:
        return fill_cancellation(scale_to(factor_ * k, limit_));
      case InputKind::needle:
        return fill_needle();
      case InputKind::zeros:
        fill_constant(a_, 0);
        fill_constant(b_, 0);
        fill_constant(c_, 0);
        return;
      case InputKind::ones:
        fill_constant(a_, scale_to(factor_ * k, limit_));
        fill_constant(b_, 1);
        fill_constant(c_, 1);
        return;
      case InputKind::identity:
        return fill_identity();
    }
  }

  uint64_t place(uint64_t index, int64_t bound) const {
    return CounterRandom{key_, kPlaces}.below(index, static_cast<uint64_t>(bound));
  }
  bool first_side() const { return place(0, 2) == 0; }

  void put(const Matrix& matrix, uint64_t row, uint64_t column, double value) {
    inputs_.batch = static_cast<int64_t>(place(1, matrix.batches));
    store_from_double(
        matrix.dtype, value,
        matrix.at(inputs_.batch, static_cast<int64_t>(row), static_cast<int64_t>(column)));
  }

  // Half of a row of a, and of a column of b, are the lowest number: in one element of out the
  // largest products there are follow one another, as who adds a few of them in 16 bits does not
  // expect.
  void place_lowest() {
    if (ranges_.most_integer() != 127) return;
    const uint64_t row = place(2, view_.m), column = place(3, view_.n);
    inputs_.rows.push_back(static_cast<int64_t>(row));
    inputs_.columns.push_back(static_cast<int64_t>(column));
    for (int64_t p = view_.k / 2; p < view_.k; ++p) {
      put(a_, row, static_cast<uint64_t>(p), -128);
      put(b_, static_cast<uint64_t>(p), column, -128);
    }
  }

  // NaN in a row (column) of out, an infinity in another, so that most outputs stay finite. Within
  // a row of out, infinities are of one sign or meet their opposite: NaN, in any order of sums.
  void place_specials() {
    const double values[] = {kNan, kInfinity, -kInfinity};
    const uint64_t row = place(2, view_.m), column = place(3, view_.n);
    for (uint64_t i = 0; i < 3; ++i) {
      const uint64_t index = place(4 + i, view_.k);
      const uint64_t at_row = (row + i) % static_cast<uint64_t>(view_.m);
      if (static_cast<int64_t>(i) + 1 < view_.m || (i == 0 && view_.n == 1)) {
        put(a_, at_row, index, values[i]);
        inputs_.rows.push_back(static_cast<int64_t>(at_row));
      }
      const uint64_t at_column = (column + i) % static_cast<uint64_t>(view_.n);
      if (static_cast<int64_t>(i) + 1 < view_.n) {
        put(b_, index, at_column, values[2 - i]);
        inputs_.columns.push_back(static_cast<int64_t>(at_column));
      }
    }
  }

  // Whole rows at once, since pairs of indices lie anywhere in k.
  template <class Value>
  void fill_exact_a(const ExactPlan& plan, Value value) {
    constexpr int64_t kElements = int64_t{1} << 21;  // Of a thread's share.
    const CounterRandom random{key_, kA};
    const auto k = static_cast<size_t>(view_.k);
    const int64_t strip = std::clamp<int64_t>((int64_t{1} << 19) / view_.k, 1, 32);
    const int64_t share = std::max(kElements / view_.k / strip, int64_t{1}) * strip;
    const int64_t shares = (view_.m + share - 1) / share;
    for_each_parallel(static_cast<size_t>(view_.l * shares), [&](size_t index) {
      const int64_t l = static_cast<int64_t>(index) / shares;
      const int64_t begin = static_cast<int64_t>(index) % shares * share;
      const int64_t end = std::min(begin + share, view_.m);
      std::vector<double> uniform(k), lines(k * static_cast<size_t>(strip));
      for (int64_t first = begin; first < end; first += strip) {
        const Range rows{nullptr, first, std::min(strip, end - first)};
        for (int64_t i = 0; i < rows.count; ++i) {
          random.fill_uniform(static_cast<uint64_t>((l * view_.m + rows[i]) * view_.k), uniform);
          double* line = lines.data() + static_cast<size_t>(i) * k;
          for (size_t p = 0; p < k; ++p) {
            const auto from = static_cast<size_t>(plan.source[p]);
            const bool active = plan.sparse_b || is_active(plan, static_cast<int64_t>(p), rows[i]);
            line[p] = active ? value(uniform[from], plan.a[from]) : 0;
          }
        }
        store_tile(a_, l, rows, Range::all(view_.k), lines.data());
      }
    });
  }

  void fill_exact(const ExactPlan& plan) {
    // Odd numbers in the upper half of the magnitudes, so that the last bit is always there.
    const auto value = [](double u, int64_t most) {
      const auto low = static_cast<double>(most / 2 + 1);
      const double size = std::fabs(u);
      double magnitude = low + whole(size * (static_cast<double>(most) - low + 1));
      magnitude = std::min(magnitude, static_cast<double>(most));
      if (most >= 7) magnitude = 2 * whole(magnitude / 2) + 1;
      if (most == 0) magnitude = 0;
      return u < 0 ? -magnitude : magnitude;
    };
    fill_exact_a(plan, value);
    const CounterRandom random_b{key_, kB};
    for_each_tile_parallel(b_, [&](int64_t l, Range rows, Range columns, double* tile) {
      for (int64_t i = 0; i < rows.count; ++i) {
        const int64_t p = rows[i], from = plan.source[static_cast<size_t>(p)];
        double* out = tile + i * columns.count;
        random_b.fill_uniform(static_cast<uint64_t>((l * view_.k + from) * view_.n + columns.first),
                              std::span<double>(out, static_cast<size_t>(columns.count)));
        const int64_t most = plan.b[static_cast<size_t>(from)];
        for (int64_t j = 0; j < columns.count; ++j) {
          const bool active = !plan.sparse_b || is_active(plan, p, columns[j]);
          out[j] = active ? (p == from ? 1 : -1) * value(out[j], most) : 0;
        }
      }
      store_tile(b_, l, rows, columns, tile);
    });
    fill_c(1);
  }

  // Exponents uniform over a range whose upper end keeps sums below the limit and whose lower end
  // keeps inputs normal.
  void fill_wide_range() {
    const auto exponent = [](double value) { return std::ilogb(value); };
    const bool wide = view_.a == DType::f64 && view_.b == DType::f64 && view_.out == DType::f64;
    const int reach = wide ? 100 : 20;
    const int room = exponent(limit_ / factor_ / static_cast<double>(view_.k)) / 2 - 1;
    for (auto [matrix, stream] : {std::pair{a_, kA}, {b_, kB}}) {
      const int least = matrix.dtype == DType::f16 ? -13 : -100;
      const int most_of_type = exponent(info(matrix.dtype).max_finite) - 4;
      const int high = std::max(least, std::min({reach, room, most_of_type}));
      const int low = std::max(least, high - 2 * reach);
      std::vector<double> powers;
      for (int e = low; e <= high; ++e) powers.push_back(std::ldexp(1, e - 1));
      fill(matrix, stream, [&](double u, int64_t, int64_t) {
        return (u < 0 ? u - 1 : u + 1) * powers[(mantissa_bits(u) & 0xffff) % powers.size()];
      });
    }
    fill_c(1);
  }

  // Positive products in the first half of k, negative ones in the second, about equal in sum;
  // those that a narrower input type would make smaller are positive, the others negative, so that
  // its errors all go one way. Whole rows and columns are negated at random.
  void fill_cancellation(double scale) {
    const std::vector<double> row_signs = random_signs(kRows, view_.m);
    const std::vector<double> column_signs = random_signs(kColumns, view_.n);
    const int64_t middle = (view_.k + 1) / 2;
    const int bits_a = info(view_.a).significand_bits, bits_b = info(view_.b).significand_bits;
    fill(a_, kA, [&](double u, int64_t i, int64_t p) {
      return one_sided(mantissa_bits(u), bits_a, p < middle) * scale * row_signs[i];
    });
    fill(b_, kB, [&](double u, int64_t p, int64_t j) {
      const double size = one_sided(mantissa_bits(u), bits_b, p < middle);
      return (p < middle ? size : -size) * column_signs[j];
    });
    fill_c(1);
  }

  void fill_needle() {
    const Matrix& zero = first_side() ? a_ : b_;
    const Matrix& other = first_side() ? b_ : a_;
    double huge = 127;
    if (integer_) {
      while (huge > 1 && huge * 128 * factor_ > limit_) huge = std::floor(huge / 2);
    } else {
      huge = 0x1p60 * scale_to(0x1p60 * factor_, limit_);
      huge *= scale_to(huge, info(zero.dtype).max_finite / 16);
    }
    fill_constant(zero, 0);
    fill_uniform(other, first_side() ? kB : kA, 1);
    fill_constant(c_, 0);
    const uint64_t row = place(2, zero.rows), column = place(3, zero.columns);
    put(zero, row, column, place(7, 2) == 0 ? huge : -huge);
    if (first_side())
      inputs_.rows.push_back(static_cast<int64_t>(row));
    else
      inputs_.columns.push_back(static_cast<int64_t>(column));
  }

  void fill_identity() {
    const Matrix& unit = first_side() ? b_ : a_;
    fill(unit, kA, [](double, int64_t i, int64_t j) { return i == j ? 1.0 : 0.0; });
    const Matrix& values = first_side() ? a_ : b_;
    const Stream stream = first_side() ? kA : kB;
    if (bends_)
      fill(values, stream, [&](double u, int64_t, int64_t) { return of_any_size(u); });
    else
      fill_uniform(values, stream, scale_to(factor_, limit_));
    fill_c(1);
  }

  // Functions bend, saturate and overflow at sizes of their own: half of the sums are of 2^-20 to
  // 2^10, half of 1 to 2^8, of either sign.
  double of_any_size(double u) const {
    const double share = 2 * std::fabs(u);
    const double size = std::exp2(share < 1 ? 30 * share - 20 : 8 * (share - 1));
    return std::copysign(std::min(size, limit_), u);
  }

  const View& view_;
  InputKind kind_;
  Ranges ranges_;
  bool integer_;
  bool bends_ = false;  // Behind the sums are functions, or bounds.
  double limit_, factor_;
  LinePlan plan_lines_;
  uint64_t key_ = 0;
  Inputs inputs_;
  Matrix a_, b_, c_;
};

}  // namespace

Result<MemoryFile> allocate_input(const Operand& operand) {
  ASSAY_TRY(auto memory,
            MemoryFile::create("assay-input", static_cast<size_t>(operand.span_bytes)));
  int64_t elements = 1;
  for (const int64_t size : operand.sizes) elements *= size;
  if (elements * size_bytes(operand.dtype) < operand.span_bytes)
    std::ranges::fill(memory.writable_bytes(), std::byte{0xff});
  return memory;
}

Result<Inputs> make_inputs(const Problem& problem, const View& view, InputKind kind,
                           uint64_t seed) {
  const std::vector<InputKind> useful = useful_input_kinds(view, ErrorBound::normwise);
  if (std::find(useful.begin(), useful.end(), kind) == useful.end()) {
    if (kind == InputKind::exact || kind == InputKind::exact_blocks) {
      auto limits = exact_limits(view);
      if (!limits) return fail(limits.error());
    }
    return fail(ErrorCode::unsupported, "inputs of the kind {} say nothing about {}",
                to_string(kind), problem.name());
  }
  return Generator(problem, view, kind, seed).run(problem);
}

std::vector<InputKind> useful_input_kinds(const View& view, ErrorBound bound) {
  if (!info(view.out).floating) {
    return {InputKind::exact, InputKind::uniform, InputKind::needle,
            InputKind::zeros, InputKind::ones,    InputKind::identity};
  }
  std::vector<InputKind> kinds;
  if (exact_limits(view)) {
    kinds.push_back(InputKind::exact);
    if (bound == ErrorBound::normwise) kinds.push_back(InputKind::exact_blocks);
  }
  kinds.insert(kinds.end(),
               {InputKind::uniform, InputKind::cancellation, InputKind::wide_range,
                InputKind::needle, InputKind::identity, InputKind::ones, InputKind::zeros});
  // With alpha = 0 kernels need not read a and b, and whether NaN gets through is their choice.
  if (view.alpha != 0) kinds.push_back(InputKind::non_finite);
  return kinds;
}

}  // namespace assay::gemm
