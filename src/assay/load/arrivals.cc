#include "assay/load/arrivals.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace assay::load {
namespace {

// The regularised lower incomplete gamma function P(a, x): its series below a + 1, above it the
// continued fraction of the upper one (Abramowitz and Stegun 6.5.29 and 6.5.31).
double lower_gamma(double a, double x) {
  if (x <= 0) return 0;
  const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
  constexpr int kMostTerms = 2000;
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int i = 1; i < kMostTerms && term > sum * 1e-15; ++i) {
      term *= x / (a + i);
      sum += term;
    }
    return std::min(1.0, front * sum);
  }
  // Lentz's method.
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, fraction = d;
  for (int i = 1; i < kMostTerms; ++i) {
    const double an = -i * (i - a);
    b += 2;
    d = an * d + b;
    if (std::abs(d) < kTiny) d = kTiny;
    c = b + an / c;
    if (std::abs(c) < kTiny) c = kTiny;
    d = 1 / d;
    const double change = d * c;
    fraction *= change;
    if (std::abs(change - 1) < 1e-15) break;
  }
  return std::max(0.0, 1 - front * fraction);
}

}  // namespace

double expected_by(const ArrivalPlan& plan, double seconds) {
  if (!plan.ramp) return plan.rate * seconds;
  const double length = plan.ramp->seconds, from = plan.rate, to = plan.ramp->to_rate;
  const double within = std::min(seconds, length);
  const double after = std::max(0.0, seconds - length) * to;
  if (plan.ramp->exponential && from != to) {
    const double growth = std::log(to / from) / length;
    return from / growth * std::expm1(growth * within) + after;
  }
  return from * within + (to - from) * within * within / (2 * length) + after;
}

double when_expected(const ArrivalPlan& plan, double arrivals) {
  if (std::isinf(plan.rate)) return 0;
  if (!plan.ramp) return arrivals / plan.rate;
  const double length = plan.ramp->seconds, from = plan.rate, to = plan.ramp->to_rate;
  const double by_end = expected_by(plan, length);
  if (arrivals >= by_end) return length + (arrivals - by_end) / to;
  if (plan.ramp->exponential && from != to) {
    const double growth = std::log(to / from) / length;
    return std::log1p(arrivals * growth / from) / growth;
  }
  const double slope = (to - from) / length;
  if (slope == 0) return arrivals / from;
  // The root that does not cancel where the slope is small.
  return 2 * arrivals / (from + std::sqrt(from * from + 2 * slope * arrivals));
}

double Arrivals::next() {
  if (made_++ > 0 || plan_.law != Law::constant) sum_ += unit_gap();
  return when_expected(plan_, sum_);
}

double Arrivals::normal() {
  const double radius = std::sqrt(-2 * std::log1p(-random_.uniform_unit(drawn_)));
  const double angle = 2 * std::numbers::pi * random_.uniform_unit(drawn_ + 1);
  drawn_ += 2;
  return radius * std::cos(angle);
}

// Gamma by Marsaglia and Tsang (ACM TOMS 26, 2000), lifted by a power of a uniform for shapes
// below 1.
double Arrivals::unit_gap() {
  if (plan_.law == Law::constant || std::isinf(plan_.burstiness)) return 1;
  if (plan_.law == Law::poisson) return -std::log1p(-random_.uniform_unit(drawn_++));
  const double shape = plan_.burstiness;
  const double lifted = shape < 1 ? shape + 1 : shape;
  const double d = lifted - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  double value = 0;
  while (true) {
    const double x = normal();
    const double v = std::pow(1 + c * x, 3);
    const double u = 1 - random_.uniform_unit(drawn_++);
    if (v <= 0 || std::log(u) >= x * x / 2 + d - d * v + d * std::log(v)) continue;
    value = d * v;
    break;
  }
  if (shape < 1) value *= std::pow(1 - random_.uniform_unit(drawn_++), 1 / shape);
  return value / shape;
}

double gap_share_below(const ArrivalPlan& plan, double gap) {
  if (plan.law == Law::gamma) return lower_gamma(plan.burstiness, gap * plan.burstiness);
  return gap <= 0 ? 0 : -std::expm1(-gap);
}

std::optional<double> gaps_distance(const ArrivalPlan& plan, std::vector<double> unit_gaps) {
  if (plan.law == Law::constant || std::isinf(plan.burstiness) || unit_gaps.empty())
    return std::nullopt;
  std::ranges::sort(unit_gaps);
  const auto count = static_cast<double>(unit_gaps.size());
  double distance = 0;
  for (std::size_t i = 0; i < unit_gaps.size(); ++i) {
    const double share = gap_share_below(plan, unit_gaps[i]);
    const auto rank = static_cast<double>(i);
    distance = std::max({distance, share - rank / count, (rank + 1) / count - share});
  }
  return distance;
}

double distance_probability(double distance, std::size_t gaps) {
  const double root = std::sqrt(static_cast<double>(gaps));
  const double lambda = (root + 0.12 + 0.11 / root) * distance;  // Stephens (1970).
  double sum = 0;
  for (int k = 1; k <= 100; ++k)
    sum += (k % 2 == 1 ? 2 : -2) * std::exp(-2.0 * k * k * lambda * lambda);
  return lambda < 0.2 ? 1 : std::clamp(sum, 0.0, 1.0);
}

}  // namespace assay::load
