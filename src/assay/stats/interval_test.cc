#include "assay/stats/interval.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace assay::stats {
namespace {

TEST(IntervalTest, IsStudentsOverTheSamples) {
  const auto interval = student_interval(std::vector<double>{1, 2, 3, 4, 5, 6});
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->samples, 6);
  EXPECT_DOUBLE_EQ(interval->centre, 3.5);
  EXPECT_NEAR(interval->standard_error, 0.7637626, 1e-7);
  EXPECT_NEAR(interval->high - 3.5, 4.0321430 * 0.7637626, 1e-5);
  EXPECT_NEAR(3.5 - interval->low, 4.0321430 * 0.7637626, 1e-5);
}

TEST(IntervalTest, HalfWidthOverSevenIsAboutOnePointFourSpreads) {
  // Seven samples with a standard deviation of 1.
  const double step = 1 / std::sqrt(28.0 / 6);
  std::vector<double> samples;
  for (int i = -3; i <= 3; ++i) samples.push_back(i * step);
  const auto interval = student_interval(samples);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->high, 1.40, 0.005);
}

TEST(IntervalTest, FewSamplesGiveNone) {
  EXPECT_FALSE(student_interval(std::vector<double>{1, 2, 3, 4, 5}));
  EXPECT_TRUE(student_interval(std::vector<double>{1, 2, 3, 4, 5}, 0.99, 5));
  EXPECT_FALSE(student_interval(std::vector<double>{1}, 0.99, 1));
  EXPECT_FALSE(student_interval({}));
}

TEST(IntervalTest, RefusesNonsense) {
  const std::vector<double> six = {1, 2, 3, 4, 5, 6};
  EXPECT_FALSE(student_interval(six, 1.0));
  EXPECT_FALSE(student_interval(six, 0.0));
  EXPECT_FALSE(student_interval(six, std::nan("")));
  EXPECT_FALSE(student_interval(std::vector<double>{1, 2, 3, 4, 5, INFINITY}));
}

}  // namespace
}  // namespace assay::stats
