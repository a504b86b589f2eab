#pragma once

// When requests of an open loop are to be sent: offsets from its begin, each a function of the seed
// and of its number alone.

#include <cstdint>
#include <optional>
#include <vector>

#include "assay/base/random.h"
#include "assay/base/result.h"

namespace assay::load {

enum class Law { constant, poisson, gamma };

struct Ramp {
  double to_rate = 0;  // At the end of the ramp, and from then on.
  double seconds = 0;
  bool exponential = false;
};

struct ArrivalPlan {
  Law law = Law::poisson;
  double rate = 0;        // Requests per second; infinite: all at once.
  double burstiness = 1;  // Shape of the gamma law: below 1 bursty, above 1 smoother.
  std::optional<Ramp> ramp;
};

// How many arrivals the plan expects by then, and its inverse: a ramp is a constant rate on another
// clock.
double expected_by(const ArrivalPlan& plan, double seconds);
double when_expected(const ArrivalPlan& plan, double arrivals);

// The first offset is 0 for the constant law; each other one is drawn.
class Arrivals {
 public:
  Arrivals(const ArrivalPlan& plan, std::uint64_t seed) : plan_(plan), random_{seed, 0} {}

  double next();  // Seconds.

 private:
  double unit_gap();  // Mean 1.
  double normal();

  ArrivalPlan plan_;
  CounterRandom random_;
  std::uint64_t drawn_ = 0;
  std::int64_t made_ = 0;
  double sum_ = 0;
};

// P(gap <= x) of the law with mean 1. Not of the constant law, whose gaps do not spread.
double gap_share_below(const ArrivalPlan& plan, double gap);

// Kolmogorov and Smirnov's distance of gaps (mean 1) from the law; none for the constant one.
std::optional<double> gaps_distance(const ArrivalPlan& plan, std::vector<double> unit_gaps);

// P(distance at least this large) if the gaps come from the law.
double distance_probability(double distance, std::size_t gaps);

}  // namespace assay::load
