#include "assay/stats/student.h"

#include <cmath>
#include <initializer_list>
#include <limits>

namespace assay::stats {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kTiny = 1e-300;  // Keeps Lentz's denominators from vanishing.

// The continued fraction of Abramowitz and Stegun 26.5.8, by Lentz's method as modified by Thompson
// and Barnett. It converges in O(sqrt(max(a, b))) steps for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  double c = 1;
  double d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double value = d;
  for (int m = 1; m <= 10000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double step = 1;
    for (const double term : {even, odd}) {
      d = 1 + term * d;
      d = 1 / (std::abs(d) < kTiny ? kTiny : d);
      c = 1 + term / c;
      if (std::abs(c) < kTiny) c = kTiny;
      step = c * d;
      value *= step;
    }
    if (std::abs(step - 1) < kEpsilon) break;
  }
  return value;
}

// P(T > t) for t >= 0. Kept apart from the cdf, so that small tails keep their digits.
double upper_tail(double t, double degrees) {
  return 0.5 * incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

}  // namespace

double incomplete_beta(double a, double b, double x) {
  if (!(a > 0) || !(b > 0) || std::isnan(x)) return std::numeric_limits<double>::quiet_NaN();
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double log_front =
      std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x);
  if (x < (a + 1) / (a + b + 2)) return std::exp(log_front) * beta_fraction(a, b, x) / a;
  return 1 - std::exp(log_front) * beta_fraction(b, a, 1 - x) / b;
}

double student_cdf(double t, double degrees) {
  if (!(degrees > 0) || std::isnan(t)) return std::numeric_limits<double>::quiet_NaN();
  return t < 0 ? upper_tail(-t, degrees) : 1 - upper_tail(t, degrees);
}

double student_quantile(double probability, double degrees) {
  if (!(degrees > 0) || !(probability > 0) || !(probability < 1)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (probability == 0.5) return 0;
  const double tail = probability < 0.5 ? probability : 1 - probability;
  double low = 0;
  double high = 1;
  while (upper_tail(high, degrees) > tail && high < 1e150) {
    low = high;
    high *= 2;
  }
  // Bisection: the tail falls monotonously, and 60 halvings reach the last bit.
  for (int i = 0; i < 80 && high - low > kEpsilon * high; ++i) {
    const double middle = (low + high) / 2;
    (upper_tail(middle, degrees) > tail ? low : high) = middle;
  }
  const double t = (low + high) / 2;
  return probability < 0.5 ? -t : t;
}

}  // namespace assay::stats
