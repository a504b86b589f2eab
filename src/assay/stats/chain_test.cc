#include "assay/stats/chain.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace assay::stats {
namespace {

std::vector<Burst> bursts(int count, double ns, double noise, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> spread(1, noise);
  std::vector<Burst> made;
  for (int i = 0; i < count; ++i) made.push_back({ns * spread(random), true});
  return made;
}

TEST(ChainTest, LinksThemselvesAreNoPartOfTheRatio) {
  const auto bare = bursts(40, 5, 0, 1), one = bursts(40, 15, 0, 2), two = bursts(40, 17, 0, 3);
  const ProcessMean mean = chain_mean(one, two, bare);
  ASSERT_TRUE(mean.log_ratio);
  EXPECT_NEAR(*mean.log_ratio, std::log(12.0 / 10.0), 1e-12);
  EXPECT_EQ(mean.clean_rounds, 40);
  EXPECT_NEAR(mean.standard_error, 0, 1e-12);
  EXPECT_NEAR(chain_time(one, bare)->ns, 10, 1e-12);
  EXPECT_NEAR(chain_time(one, bare)->link, 5, 1e-12);
}

TEST(ChainTest, TheStandardErrorIsWhatTheMeansSpread) {
  std::vector<double> ratios;
  double told = 0;
  constexpr int kRuns = 400;
  for (unsigned run = 0; run < kRuns; ++run) {
    const ProcessMean mean =
        chain_mean(bursts(40, 15, 0.01, 3 * run + 1), bursts(40, 16, 0.01, 3 * run + 2),
                   bursts(40, 5, 0.01, 3 * run + 3));
    ASSERT_TRUE(mean.log_ratio);
    ratios.push_back(*mean.log_ratio);
    told += mean.standard_error / kRuns;
  }
  EXPECT_NEAR(mean(ratios), std::log(11.0 / 10.0), 0.0005);
  EXPECT_NEAR(told / standard_deviation(ratios), 1, 0.15);
}

TEST(ChainTest, SpoiledRoundsOfAnyOfTheThreeAreLeftOut) {
  auto bare = bursts(10, 5, 0, 1), one = bursts(10, 15, 0, 2), two = bursts(10, 17, 0, 3);
  bare[0] = {500, false};
  one[1] = {500, false};
  two[2].ns = 0;
  ProcessMean mean = chain_mean(one, two, bare);
  EXPECT_EQ(mean.clean_rounds, 7);
  EXPECT_NEAR(mean.log_ratio.value(), std::log(1.2), 1e-12);
  for (int i = 3; i < 6; ++i) bare[static_cast<size_t>(i)].clean = false;
  mean = chain_mean(one, two, bare);
  EXPECT_EQ(mean.clean_rounds, 4);
  EXPECT_FALSE(mean.log_ratio) << "fewer than half";
  EXPECT_FALSE(chain_mean({}, {}, {}).log_ratio);
  EXPECT_FALSE(chain_time({}, {}));
}

TEST(ChainTest, AKernelThatTheLinkHidesHasNoMean) {
  const auto bare = bursts(10, 10, 0, 1), hidden = bursts(10, 14.9, 0, 2),
             seen = bursts(10, 16, 0, 3);
  EXPECT_TRUE(chain_time(hidden, bare)->is_launch_bound());
  EXPECT_FALSE(chain_time(seen, bare)->is_launch_bound());
  EXPECT_FALSE(chain_mean(hidden, seen, bare).log_ratio);
  EXPECT_FALSE(chain_mean(seen, hidden, bare).log_ratio);
  EXPECT_FALSE(chain_mean(seen, bursts(10, 9, 0, 4), bare).log_ratio) << "less than nothing";
  EXPECT_TRUE(chain_mean(seen, seen, bare).log_ratio);
}

}  // namespace
}  // namespace assay::stats
