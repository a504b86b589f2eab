#include "assay/op/rmsnorm/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "assay/base/parallel.h"
#include "assay/op/rmsnorm/budget.h"

namespace assay::rmsnorm {
namespace {

constexpr int64_t kPieceElements = 1 << 18;  // Worth a thread.

std::string value_text(double value) {
  if (value == 0) return "0";  // Of either sign.
  return std::isnan(value) ? "nan" : fmt::format("{:.9g}", value);
}

double sum_of_squares(std::span<const double> values) {
  constexpr size_t kLanes = 8;
  double lanes[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += values[i + lane] * values[i + lane];
  for (; i < values.size(); ++i) lanes[0] += values[i] * values[i];
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

// What rows add up to.
struct Sums {
  int64_t wrong = 0;
  std::string first_wrong;
  const char* operand = "";  // That it is of.
  double largest_error = 0, sum_of_errors = 0, visible = 0;
  MeanSquare roots;

  void say(const char* of, std::string sentence) {
    if (++wrong > 1) return;
    first_wrong = std::move(sentence);
    operand = of;
  }
  void add(const Sums& more) {
    if (wrong == 0) first_wrong = more.first_wrong, operand = more.operand;
    wrong += more.wrong;
    largest_error = std::max(largest_error, more.largest_error);
    sum_of_errors =
        std::min(sum_of_errors + more.sum_of_errors, std::numeric_limits<double>::max());
    visible = std::max(visible, more.visible);
    roots.add(more.roots);
  }
};

// One row of each operand, as numbers.
struct Values {
  explicit Values(size_t n) : x(n), got(n), written(n) {}
  std::vector<double> x, got, written;
};

class Comparison {
 public:
  Comparison(const View& view, const Bytes& bytes, bool random)
      : v_(view),
        bytes_(bytes),
        random_(random),
        budget_(budget_of(view)),
        plain_(plain_square(view)),
        w_(static_cast<size_t>(view.n)) {
    convert_to_double(v_.w, bytes.w.data(), v_.n, w_.data());
  }

  Check run() const {
    const int64_t strip = std::max(int64_t{1}, kPieceElements / v_.n);
    std::vector<Sums> pieces(static_cast<size_t>((v_.m + strip - 1) / strip));
    const auto compare = [&](size_t piece) {
      Values values(w_.size());
      const int64_t first = static_cast<int64_t>(piece) * strip;
      for (int64_t i = first; i < std::min(v_.m, first + strip); ++i)
        compare_row(i, values, pieces[piece]);
    };
    if (pieces.size() == 1)
      compare(0);
    else
      for_each_parallel(pieces.size(), compare);
    Sums all;
    for (const Sums& piece : pieces) all.add(piece);
    return conclude(all);
  }

 private:
  struct Row {
    int64_t index;
    double v, root, growth;
  };

  void load(DType dtype, std::span<const std::byte> bytes, int64_t first,
            std::vector<double>& to) const {
    convert_to_double(dtype, bytes.data() + first * size_bytes(dtype), v_.n, to.data());
  }

  void compare_row(int64_t i, Values& values, Sums& sums) const {
    load(v_.x, bytes_.x, i * v_.x_m, values.x);
    load(v_.out, bytes_.out, i * v_.out_m, values.got);
    if (!v_.adds) return compare_root(i, values.x, values.got, sums);
    load(v_.residual, bytes_.residual, i * v_.residual_m, values.written);
    for (size_t j = 0; j < values.x.size(); ++j) values.x[j] += values.written[j];
    load(v_.residual, bytes_.written, i * v_.residual_m, values.written);
    compare_sums(i, values, sums);
    compare_either(i, values, sums);
  }

  // What was written back, with x the sums.
  void compare_sums(int64_t i, const Values& values, Sums& sums) const {
    for (size_t j = 0; j < values.x.size(); ++j) {
      double e = values.x[j];
      const double got = values.written[j];
      if (!std::isfinite(round_to(v_.residual, e))) e = round_to(v_.residual, e);
      const bool finite = std::isfinite(e);
      const double allowed = finite ? budget_.allowed_sum(e) : 0;
      double ratio = std::fabs(got - e) / allowed;
      const bool right = finite ? ratio <= 1 : std::isnan(e) ? std::isnan(got) : got == e;
      if (!right)
        sums.say("residual", fmt::format("residual[{},{}] = {}, expected {}{}", i, j,
                                         value_text(got), value_text(e), within(allowed)));
      if (!finite) continue;
      ratio = limited(ratio);
      sums.largest_error = std::max(sums.largest_error, ratio);
      sums.visible = std::max(sums.visible, allowed);
      sums.sum_of_errors = limited(sums.sum_of_errors + ratio);
    }
  }

  // By what was written back, and by the sums as they are: kernels normalise either.
  void compare_either(int64_t i, const Values& values, Sums& sums) const {
    Sums by_written, by_sums;
    compare_root(i, values.written, values.got, by_written);
    if (by_written.wrong == 0 && budget_.written == 0) return sums.add(by_written);
    compare_root(i, values.x, values.got, by_sums);
    const auto rank = [](const Sums& one) {
      return std::tuple(one.wrong, one.roots.sum, one.sum_of_errors);
    };
    sums.add(rank(by_sums) < rank(by_written) ? by_sums : by_written);
  }

  static std::string within(double allowed) {
    return allowed > 0 ? fmt::format(" +- {:.3g}", allowed) : std::string();
  }
  // NaN, too, is no more than this.
  static double limited(double value) {
    constexpr double kMost = std::numeric_limits<double>::max();
    return value <= kMost ? value : kMost;
  }

  void compare_root(int64_t i, const std::vector<double>& x, const std::vector<double>& got,
                    Sums& sums) const {
    const double v = sum_of_squares(x) / static_cast<double>(v_.n) + v_.epsilon;
    const Row row{i, v, 1 / std::sqrt(v), budget_.growth(v)};
    if (std::isfinite(v) && compare_finite(row, x, got, sums)) return;
    for (size_t j = 0; j < x.size(); ++j) compare_element(row, j, x[j], got[j], sums);
  }

  // Sums over a row, e what is expected: of errors times e, of e^2, of e^4, and of what elements
  // may be off by beside their last roundings, times |e|.
  struct Projection {
    double shift = 0, energy = 0, fourth = 0, bound = 0;

    void add(double error, double e, double beside) {
      const double square = e * e;
      shift += error * e;
      energy += square;
      fourth += square * square;
      bound += beside * std::fabs(e);
    }
    double relative() const { return shift / energy; }
  };

  // Without branches, where all of the row is right; else false, and nothing is added up.
  bool compare_finite(const Row& row, const std::vector<double>& x, const std::vector<double>& got,
                      Sums& sums) const {
    double largest = 0, sum = 0, visible = 0;
    Projection projection;
    bool all_right = true;
    for (size_t j = 0; j < x.size(); ++j) {
      const double e = x[j] * row.root * w_[j];
      const double error = got[j] - e;
      const double allowed = budget_.allowed(row.growth, e, w_[j], row.root);
      const double ratio = std::fabs(error) / allowed;
      all_right &= ratio <= 1;
      largest = largest > ratio ? largest : ratio;
      visible = visible > allowed ? visible : allowed;
      sum += ratio;
      projection.add(error, e, allowed - budget_.rounding() * std::fabs(e));
    }
    if (!all_right) return false;
    sums.largest_error = std::max(sums.largest_error, largest);
    sums.visible = std::max(sums.visible, visible);
    sums.sum_of_errors += sum;
    if (random_ && projection.energy > 0) judge_root(row, projection, x, got, sums);
    return true;
  }

  // As compare_finite() has it, of kernels that round x / root to the type of out.
  Projection rounded_twice(const Row& row, std::vector<double> x,
                           const std::vector<double>& got) const {
    for (double& value : x) value *= row.root;
    std::vector<std::byte> stored(x.size() * static_cast<size_t>(size_bytes(v_.out)));
    convert_from_double(v_.out, x.data(), v_.n, stored.data());
    convert_to_double(v_.out, stored.data(), v_.n, x.data());
    Projection projection;
    for (size_t j = 0; j < x.size(); ++j) {
      const double e = x[j] * w_[j];
      projection.add(
          got[j] - e, e,
          budget_.allowed(row.growth, e, w_[j], row.root) - budget_.rounding() * std::fabs(e));
    }
    projection.bound += budget_.rounding() * budget_.x_alike * projection.energy;
    return projection;
  }

  double allowed_shift(const Projection& sums) const {
    constexpr double kOwnSums = 1.0001;  // What ours lose.
    const double fourth = sums.fourth + budget_.alike * sums.energy * sums.energy;
    return kOwnSums * (sums.bound + kLambda * std::sqrt(budget_.roundings() * fourth));
  }

  void judge_root(const Row& row, const Projection& once, const std::vector<double>& x,
                  const std::vector<double>& got, Sums& to) const {
    Projection best = once;
    if (budget_.last > 0) {
      const Projection twice = rounded_twice(row, x, got);
      if (std::fabs(twice.relative()) < std::fabs(once.relative())) best = twice;
    }
    const double allowed = allowed_shift(best);
    const double ratio = std::fabs(best.shift) / allowed;
    to.largest_error = std::max(to.largest_error, ratio);
    if (ratio > 1)
      to.say("out",
             fmt::format("row {} as a whole is 1 {} {:.3g} times what is expected, and no more "
                         "than {:.3g} is right: its root is wrong, or out is not rounded to the "
                         "nearest",
                         row.index, best.shift < 0 ? "-" : "+", std::fabs(best.relative()),
                         allowed / best.energy));
    constexpr double kKappaSquared = 0.18;
    const double last = kKappaSquared * budget_.roundings() *
                        (best.fourth / (best.energy * best.energy) + budget_.alike);
    to.roots.add({.elements = 1, .sum = best.relative() * best.relative() / (plain_ + last)});
  }

  void compare_element(const Row& row, size_t j, double x, double got, Sums& sums) const {
    const double e = x * row.root * w_[j];
    const auto refuse = [&](double allowed) {
      sums.say("out", fmt::format("out[{},{}] = {}, expected {}{}", row.index, j, value_text(got),
                                  value_text(e), within(allowed)));
    };
    if (!std::isfinite(e)) {
      if (!(std::isnan(e) ? std::isnan(got) : got == e)) refuse(0);
      return;
    }
    // A root that is refined step by step is not a number where the sum is infinite.
    if (std::isinf(row.v)) {
      if (!std::isnan(got) && got != 0) refuse(0);
      return;
    }
    const double allowed = budget_.allowed(row.growth, e, w_[j], row.root);
    double ratio = std::fabs(got - e) / allowed;
    if (!(ratio <= 1)) refuse(allowed);
    ratio = limited(ratio);
    sums.largest_error = std::max(sums.largest_error, ratio);
    sums.visible = std::max(sums.visible, allowed);
    sums.sum_of_errors = limited(sums.sum_of_errors + ratio);
  }

  Check conclude(const Sums& sums) const {
    constexpr double kWrong = 2;  // Of outputs that are no numbers.
    Check check;
    check.elements = check.compared = (v_.adds ? 2 : 1) * v_.m * v_.n;
    check.wrong = sums.wrong;
    check.right = sums.wrong == 0;
    check.first_wrong = sums.first_wrong;
    check.operand = sums.operand;
    check.max_error = check.right ? sums.largest_error : std::max(sums.largest_error, kWrong);
    check.mean_error = sums.sum_of_errors / static_cast<double>(check.elements);
    check.smallest_visible = sums.visible;
    check.ordinary_lines = sums.roots;
    check.method = random_ ? method::kEveryAndRows : method::kEvery;
    return check;
  }

  const View& v_;
  const Bytes& bytes_;
  bool random_;
  Budget budget_;
  double plain_;
  std::vector<double> w_;
};

}  // namespace

Check compare(const View& view, const Bytes& bytes, bool random) {
  return Comparison(view, bytes, random).run();
}

}  // namespace assay::rmsnorm
