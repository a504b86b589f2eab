#include "assay/stats/student.h"

#include <cmath>

#include <gtest/gtest.h>

namespace assay::stats {
namespace {

TEST(StudentTest, QuantilesAreThoseOfThePrintedTables) {
  struct Row {
    double probability, degrees, t;
  };
  for (const Row& row : {Row{0.975, 1, 12.7062}, Row{0.95, 5, 2.01505}, Row{0.995, 5, 4.03214},
                         Row{0.995, 6, 3.70743}, Row{0.975, 10, 2.22814}, Row{0.9, 20, 1.32534},
                         Row{0.9995, 30, 3.64596}, Row{0.995, 1, 63.6567}}) {
    EXPECT_NEAR(student_quantile(row.probability, row.degrees), row.t, 6e-6 * row.t)
        << row.probability << " with " << row.degrees;
    EXPECT_NEAR(student_quantile(1 - row.probability, row.degrees), -row.t, 6e-6 * row.t);
  }
}

TEST(StudentTest, OneAndTwoDegreesHaveClosedForms) {
  for (const double t : {-40.0, -3.0, -0.2, 0.0, 0.7, 5.0, 1000.0}) {
    EXPECT_NEAR(student_cdf(t, 1), 0.5 + std::atan(t) / M_PI, 1e-12) << t;
    EXPECT_NEAR(student_cdf(t, 2), 0.5 + t / (2 * std::sqrt(2 + t * t)), 1e-12) << t;
  }
}

TEST(StudentTest, ManyDegreesApproachTheNormal) {
  EXPECT_NEAR(student_quantile(0.975, 1e7), 1.959964, 1e-5);
  EXPECT_NEAR(student_cdf(1.0, 1e7), 0.5 * std::erfc(-1 / std::sqrt(2.0)), 1e-7);
}

TEST(StudentTest, QuantileInvertsTheCdf) {
  for (const double degrees : {0.5, 1.0, 2.5, 6.0, 40.0, 999.0}) {
    for (const double probability : {1e-9, 0.005, 0.3, 0.5, 0.8, 0.999}) {
      const double t = student_quantile(probability, degrees);
      EXPECT_NEAR(student_cdf(t, degrees) / probability, 1, 1e-9) << degrees << " " << probability;
    }
  }
}

TEST(StudentTest, IncompleteBetaHasItsKnownValues) {
  EXPECT_NEAR(incomplete_beta(1, 1, 0.3), 0.3, 1e-14);
  EXPECT_NEAR(incomplete_beta(2, 3, 0.4), 0.5248, 1e-13);  // 6x^2 - 8x^3 + 3x^4.
  EXPECT_NEAR(incomplete_beta(0.5, 0.5, 0.25), 1.0 / 3, 1e-13);
  EXPECT_EQ(incomplete_beta(2, 3, 0), 0);
  EXPECT_EQ(incomplete_beta(2, 3, 1), 1);
}

TEST(StudentTest, ArgumentsOutOfRangeGiveNaN) {
  EXPECT_TRUE(std::isnan(student_quantile(0, 5)));
  EXPECT_TRUE(std::isnan(student_quantile(1, 5)));
  EXPECT_TRUE(std::isnan(student_quantile(0.5, 0)));
  EXPECT_TRUE(std::isnan(student_cdf(std::nan(""), 3)));
  EXPECT_TRUE(std::isnan(incomplete_beta(-1, 1, 0.5)));
}

}  // namespace
}  // namespace assay::stats
