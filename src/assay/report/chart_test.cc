#include "assay/report/chart.h"

#include <cstdio>
#include <string>

#include <gtest/gtest.h>

namespace assay::report {
namespace {

// Coordinates of a curve's points, between 0 and 1000 where they lie in the drawing.
std::vector<std::pair<double, double>> drawn(const std::string& html) {
  std::vector<std::pair<double, double>> points;
  const std::size_t begin = html.find(" d=\"");
  for (std::size_t at = html.find_first_of("ML", begin); at < html.find('"', begin + 4);
       at = html.find_first_of("ML\"", at + 1)) {
    double x = 0, y = 0;
    if (std::sscanf(html.c_str() + at + 1, "%lf,%lf", &x, &y) == 2) points.emplace_back(x, y);
  }
  return points;
}

TEST(Chart, AxesHoldEverything) {
  for (const auto& [least, most] : {std::pair{-0.002, 10.88},
                                    {0.0, 5.0},
                                    {3.0, 3.0},
                                    {0.0, 0.0},
                                    {-7.0, -1.0},
                                    {-0.3, 0.1},
                                    {1e-9, 3e-9}}) {
    Chart chart{.id = "a", .title = "a", .sentence = {}, .x = "x", .y = "y", .series = {}};
    chart.series.push_back({.name = "line", .points = {{least, most}, {most, least}}});
    const auto points = drawn(chart_html(chart));
    ASSERT_EQ(points.size(), 2u);
    for (const auto& [x, y] : points) {
      EXPECT_TRUE(x >= 0 && x <= 1000) << least << " to " << most << " at " << x;
      EXPECT_TRUE(y >= 0 && y <= 1000) << least << " to " << most << " at " << y;
    }
    if (least < most) {
      EXPECT_LT(points[0].first, points[1].first);
    }
  }
}

}  // namespace
}  // namespace assay::report
