#include "assay/op/rmsnorm/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
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
  double largest_error = 0, sum_of_errors = 0, visible = 0;
  MeanSquare roots;

  void say(std::string sentence) {
    if (++wrong == 1) first_wrong = std::move(sentence);
  }
  void add(const Sums& more) {
    if (wrong == 0) first_wrong = more.first_wrong;
    wrong += more.wrong;
    largest_error = std::max(largest_error, more.largest_error);
    sum_of_errors =
        std::min(sum_of_errors + more.sum_of_errors, std::numeric_limits<double>::max());
    visible = std::max(visible, more.visible);
    roots.add(more.roots);
  }
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
      std::vector<double> x(w_.size()), got(w_.size());
      const int64_t first = static_cast<int64_t>(piece) * strip;
      for (int64_t i = first; i < std::min(v_.m, first + strip); ++i)
        compare_row(i, x, got, pieces[piece]);
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

  void compare_row(int64_t i, std::vector<double>& x, std::vector<double>& got, Sums& sums) const {
    convert_to_double(v_.x, bytes_.x.data() + i * v_.x_m * size_bytes(v_.x), v_.n, x.data());
    convert_to_double(v_.out, bytes_.out.data() + i * v_.out_m * size_bytes(v_.out), v_.n,
                      got.data());
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
    return kOwnSums * (sums.bound + kLambda * budget_.last * std::sqrt(fourth));
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
      to.say(
          fmt::format("row {} as a whole is 1 {} {:.3g} times what is expected, and no more "
                      "than {:.3g} is right: its root is wrong, or out is not rounded to the "
                      "nearest",
                      row.index, best.shift < 0 ? "-" : "+", std::fabs(best.relative()),
                      allowed / best.energy));
    constexpr double kKappaSquared = 0.18;
    const double last = kKappaSquared * budget_.last * budget_.last *
                        (best.fourth / (best.energy * best.energy) + budget_.alike);
    to.roots.add({.elements = 1, .sum = best.relative() * best.relative() / (plain_ + last)});
  }

  void compare_element(const Row& row, size_t j, double x, double got, Sums& sums) const {
    const double e = x * row.root * w_[j];
    const auto refuse = [&](double within) {
      std::string sentence =
          fmt::format("out[{},{}] = {}, expected {}", row.index, j, value_text(got), value_text(e));
      if (within > 0) sentence += fmt::format(" +- {:.3g}", within);
      sums.say(std::move(sentence));
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
    if (!(ratio <= std::numeric_limits<double>::max())) ratio = std::numeric_limits<double>::max();
    sums.largest_error = std::max(sums.largest_error, ratio);
    sums.visible = std::max(sums.visible, allowed);
    sums.sum_of_errors = std::min(sums.sum_of_errors + ratio, std::numeric_limits<double>::max());
  }

  Check conclude(const Sums& sums) const {
    constexpr double kWrong = 2;  // Of outputs that are no numbers.
    Check check;
    check.elements = check.compared = v_.m * v_.n;
    check.wrong = sums.wrong;
    check.right = sums.wrong == 0;
    check.first_wrong = sums.first_wrong;
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
