#include "assay/input/shape_defaults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/input/manifest.h"

namespace assay::input {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::vector<KernelEntry> entries_of(const std::string& fields) {
  auto entries =
      parse_head_comment("// assay: {entry: f, " + fields + ", args: [a, b, out, m, n, k]}\n",
                         "my.cc", [](const KernelEntry&) { return LaunchForm::itself; });
  EXPECT_TRUE(entries.has_value()) << entries.error().message;
  return entries ? *entries : std::vector<KernelEntry>();
}

TEST(ShapeDefaultsTest, AKernelOfOneTypeAndLayoutDecides) {
  EXPECT_THAT(only_fields(entries_of("dtype: f32, layout: tt")),
              ElementsAre(Pair("dtype", "f32"), Pair("layout", "tt")));
  EXPECT_THAT(
      only_fields(entries_of("a: bf16, b: bf16, out: f32, layout: tnn")),
      ElementsAre(Pair("a", "bf16"), Pair("b", "bf16"), Pair("out", "f32"), Pair("layout", "tnn")));
}

TEST(ShapeDefaultsTest, WhatMayBeOneOrTheOtherIsLeftOpen) {
  EXPECT_THAT(only_fields(entries_of("dtype: [f32, f64], layout: tt")),
              ElementsAre(Pair("layout", "tt")));
  EXPECT_THAT(only_fields(entries_of("dtype: f32, layout: [tt, tn]")),
              ElementsAre(Pair("dtype", "f32")));
  EXPECT_THAT(only_fields({}), IsEmpty());
}

TEST(ShapeDefaultsTest, FilesThatDifferDecideNothing) {
  auto both = entries_of("dtype: f32, layout: tt");
  for (const KernelEntry& entry : entries_of("dtype: f64, layout: tt")) both.push_back(entry);
  EXPECT_THAT(only_fields(both), ElementsAre(Pair("layout", "tt")));
}

TEST(ShapeDefaultsTest, AKernelDecidesTheOperation) {
  const auto entries = parse_head_comment(
      "// assay: {entry: f, operation: rmsnorm, dtype: f32, args: [x, w, out, m, n]}\n", "my.cc",
      [](const KernelEntry&) { return LaunchForm::itself; });
  ASSERT_TRUE(entries) << entries.error().message;
  const ShapeFields fields = only_fields(*entries);
  EXPECT_THAT(fields, ElementsAre(Pair("dtype", "f32"), Pair("operation", "rmsnorm")));
  EXPECT_THAT(open_fields("m=1,n=2", fields), ElementsAre(fields[0], fields[1]));
  EXPECT_THAT(open_fields("m=1,dtype=f16", fields), ElementsAre(fields[1]));
  EXPECT_THAT(open_fields("operation=rmsnorm,m=1", fields), ElementsAre(fields[0]));
  EXPECT_THAT(open_fields("operation=gemm,m=1", fields), IsEmpty());
  EXPECT_THAT(open_fields("operation=rmsnorm,m=1", {{"dtype", "f32"}, {"layout", "tt"}}),
              IsEmpty());
}

TEST(ShapeDefaultsTest, WhatTheFlagNamesIsTheFlags) {
  const ShapeFields fields = {{"dtype", "f32"}, {"layout", "tt"}};
  EXPECT_THAT(open_fields("m=1,n=2,k=3", fields), ElementsAre(fields[0], fields[1]));
  EXPECT_THAT(open_fields("m=1, dtype = f64", fields), ElementsAre(fields[1]));
  EXPECT_THAT(open_fields("m=1,out=f64", fields), ElementsAre(fields[1]));
  EXPECT_THAT(open_fields("m=1,layout=tn,dtype=f32", fields), IsEmpty());
}

}  // namespace
}  // namespace assay::input
