#include "assay/measure/ceilings.h"

#include <gtest/gtest.h>

namespace assay::measure {
namespace {

Ceiling ceiling(std::string name, double value, int threads, std::string from) {
  return {std::move(name), value, "byte/s", threads, std::move(from), "then"};
}

TEST(CeilingsTest, TheLargerOfTwoWindowsCounts) {
  const auto both =
      larger_of({ceiling("read", 10, 1, "late"), ceiling("flops_f32", 50, 1, "late")},
                {ceiling("read", 12, 1, "early"), ceiling("flops_f32", 40, 1, "early"),
                 ceiling("copy", 5, 1, "early")});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0], ceiling("read", 12, 1, "early"));
  EXPECT_EQ(both[1], ceiling("flops_f32", 50, 1, "late"));
}

TEST(CeilingsTest, OfOtherThreadsItIsAnother) {
  const auto both = larger_of({ceiling("read", 10, 1, "late")}, {ceiling("read", 40, 4, "early")});
  ASSERT_EQ(both.size(), 1u);
  EXPECT_EQ(both[0].value, 10);
}

}  // namespace
}  // namespace assay::measure
