#include "assay/stats/robust.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace assay::stats {
namespace {

using Samples = std::vector<double>;

TEST(RobustTest, MedianMeanAndDeviation) {
  EXPECT_EQ(median(Samples{5, 1, 3}), 3);
  EXPECT_EQ(median(Samples{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(mean(Samples{1, 2, 6}), 3);
  EXPECT_NEAR(standard_deviation(Samples{1, 2, 3, 4, 5, 6}), 1.8708286933869707, 1e-15);
}

TEST(RobustTest, TooFewSamplesGiveNaN) {
  EXPECT_TRUE(std::isnan(mean({})));
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_TRUE(std::isnan(trimmed_mean({})));
  EXPECT_TRUE(std::isnan(standard_deviation(Samples{1})));
  EXPECT_TRUE(std::isnan(trimmed_standard_error(Samples{1})));
}

TEST(RobustTest, TrimmingCutsWholeAndPartialSamples) {
  const Samples samples = {100, 2, 3, 4, -100, 5, 6, 7};
  EXPECT_DOUBLE_EQ(trimmed_mean(samples, 0.25), (3 + 4 + 5 + 6) / 4.0);
  EXPECT_DOUBLE_EQ(trimmed_mean(samples, 0), mean(samples));
  EXPECT_DOUBLE_EQ(trimmed_mean(samples, 0.5), median(samples));
  // A quarter of six samples is one and a half: the second and fifth count by half.
  EXPECT_DOUBLE_EQ(trimmed_mean(Samples{-50, 1, 2, 4, 8, 90}, 0.25), (0.5 + 2 + 4 + 4) / 3);
  EXPECT_DOUBLE_EQ(trimmed_mean(Samples{1, 2, 9}, 0.25), (0.25 + 2 + 2.25) / 1.5);
  EXPECT_EQ(trimmed_mean(Samples{1, 2}, 0.4), 1.5);
  EXPECT_EQ(trimmed_mean(Samples{7}, 0.4), 7);
}

TEST(RobustTest, StandardErrorIsYuens) {
  // Winsorised: 3 3 3 4 5 6 6 6, squares about 4.5: 14, h = 4.
  const Samples samples = {100, 2, 3, 4, -100, 5, 6, 7};
  EXPECT_NEAR(trimmed_standard_error(samples, 0.25), std::sqrt(14.0 / 12), 1e-14);
  EXPECT_NEAR(trimmed_standard_error(Samples{1, 3}, 0.25), 1, 1e-15);
}

TEST(RobustTest, StandardErrorIsCalibrated) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  std::student_t_distribution<double> heavy(3);
  for (const bool heavy_tails : {false, true}) {
    for (const int count : {6, 12, 48}) {
      double error = 0;
      double predicted = 0;
      const int runs = 3000;
      for (int run = 0; run < runs; ++run) {
        Samples samples(count);
        for (double& sample : samples) sample = heavy_tails ? heavy(random) : normal(random);
        error += std::pow(trimmed_mean(samples), 2) / runs;
        predicted += std::pow(trimmed_standard_error(samples), 2) / runs;
      }
      const double off = std::sqrt(predicted / error);
      EXPECT_GT(off, 0.85) << count << heavy_tails;
      EXPECT_LT(off, 1.5) << count << heavy_tails;  // Too wide at six heavy-tailed samples.
    }
  }
}

TEST(RobustTest, TrimFractionIsTheMinimaxChoice) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::student_t_distribution<double> heavy(3);
  std::exponential_distribution<double> delay;
  std::uniform_real_distribution<double> uniform;
  const std::vector<std::function<double()>> noises = {
      [&] { return normal(random); },
      [&] { return heavy(random); },
      [&] { return normal(random) * (uniform(random) < 0.1 ? 10 : 1); },
      [&] { return normal(random) + (uniform(random) < 0.1 ? 10 * delay(random) : 0); },
      [&] { return normal(random) + (uniform(random) < 0.05 ? 10 * delay(random) : 0); },
      // Ticks of three standard deviations, at a random phase.
      [&] {
        const double phase = uniform(random);
        return 3 * (std::floor(normal(random) / 3 + phase) - phase) + 1.5;
      },
  };
  constexpr std::array<double, 8> kFractions = {0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.35, 0.5};
  std::array<double, kFractions.size()> worst;
  worst.fill(1);
  for (const auto& noise : noises) {
    for (const int count : {12, 40, 200}) {
      std::array<double, kFractions.size()> error = {};
      const int runs = 120000 / count / 5;
      for (int run = 0; run < runs; ++run) {
        Samples samples(count);
        for (double& sample : samples) sample = noise();
        for (std::size_t i = 0; i < kFractions.size(); ++i) {
          error[i] += std::pow(trimmed_mean(samples, kFractions[i]), 2) / runs;
        }
      }
      const double best = *std::min_element(error.begin(), error.end());
      for (std::size_t i = 0; i < kFractions.size(); ++i) {
        worst[i] = std::min(worst[i], best / error[i]);
      }
    }
  }
  const auto chosen = std::max_element(worst.begin(), worst.end()) - worst.begin();
  EXPECT_EQ(kFractions[chosen], kTrimFraction);
  EXPECT_GT(worst[chosen], 0.7);  // Efficiency where it does worst.
  EXPECT_LT(worst.front(), 0.1);  // The plain mean.
  EXPECT_LT(worst.back(), 0.66);  // The median.
}

}  // namespace
}  // namespace assay::stats
