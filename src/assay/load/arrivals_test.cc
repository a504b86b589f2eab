#include "assay/load/arrivals.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace assay::load {
namespace {

std::vector<double> offsets(const ArrivalPlan& plan, std::uint64_t seed, int count) {
  Arrivals arrivals(plan, seed);
  std::vector<double> all;
  for (int i = 0; i < count; ++i) all.push_back(arrivals.next());
  return all;
}

std::vector<double> unit_gaps(const ArrivalPlan& plan, const std::vector<double>& offsets) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < offsets.size(); ++i)
    gaps.push_back(expected_by(plan, offsets[i]) - expected_by(plan, offsets[i - 1]));
  return gaps;
}

TEST(Arrivals, ConstantOnesAreOnTheGrid) {
  const auto all = offsets({Law::constant, 250, 1, {}}, 1, 1000);
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_NEAR(all[i], static_cast<double>(i) / 250, 1e-9);
}

// 100,000 gaps under each of 20 fixed seeds; at most one of them may look unlike its law.
TEST(Arrivals, GapsFollowTheirLaw) {
  for (const auto& [law, shape] : {std::pair(Law::poisson, 1.0), std::pair(Law::gamma, 0.3),
                                   std::pair(Law::gamma, 1.0), std::pair(Law::gamma, 4.0)}) {
    const ArrivalPlan plan{law, 5000, shape, {}};
    int unlike = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const auto gaps = unit_gaps(plan, offsets(plan, seed, 100'001));
      unlike += distance_probability(*gaps_distance(plan, gaps), gaps.size()) <= 0.01;
    }
    EXPECT_LE(unlike, 1) << shape;
  }
}

TEST(Arrivals, AnotherLawIsTold) {
  const ArrivalPlan poisson{Law::poisson, 100, 1, {}}, gamma{Law::gamma, 100, 0.9, {}};
  const auto gaps = unit_gaps(gamma, offsets(gamma, 1, 100'001));
  EXPECT_LT(distance_probability(*gaps_distance(poisson, gaps), gaps.size()), 1e-6);
}

TEST(Arrivals, ARampIsAConstantRateOnAnotherClock) {
  for (const bool exponential : {false, true}) {
    const ArrivalPlan plan{Law::poisson, 10, 1, Ramp{100, 20, exponential}};
    for (double at = 0; at < 30; at += 0.7)
      EXPECT_NEAR(when_expected(plan, expected_by(plan, at)), at, 1e-9);
    EXPECT_NEAR(expected_by(plan, 30) - expected_by(plan, 20), 1000, 1e-6);
  }
  const ArrivalPlan linear{Law::constant, 10, 1, Ramp{100, 20, false}};
  EXPECT_NEAR(expected_by(linear, 20), 1100, 1e-9);
}

}  // namespace
}  // namespace assay::load
