#include "assay/measure/kept_ceilings.h"

#include <gtest/gtest.h>

#include "assay/base/file.h"

namespace assay::measure {
namespace {

Reading reading(double second, double largest, int threads = 1, std::string from = "then") {
  return {.ceiling = {.name = "read",
                      .value = second,
                      .unit = "byte/s",
                      .threads = threads,
                      .from = std::move(from),
                      .until = "later",
                      .load = 0},
          .largest = largest};
}

class KeptCeilings : public ::testing::Test {
 protected:
  double kept(const Reading& now) { return keep_ceilings(path_, {now}).front().value; }

  TemporaryDirectory folder_ = *TemporaryDirectory::create();
  std::string path_ = kept_ceilings_path(folder_.path(), "some processor");
};

TEST_F(KeptCeilings, TheSecondLargestOfAllReadingsStands) {
  EXPECT_EQ(kept(reading(10, 11)), 10);
  EXPECT_EQ(kept(reading(3, 4)), 10) << "a busy hour lowers nothing";
  EXPECT_EQ(kept(reading(10.5, 90)), 11) << "one glitch is no ceiling";
  EXPECT_EQ(kept(reading(12, 13)), 13);
}

TEST_F(KeptCeilings, ItsConditionsAreThoseOfItsWindow) {
  keep_ceilings(path_, {reading(10, 11, 1, "monday")});
  const Ceiling ceiling = keep_ceilings(path_, {reading(3, 4, 1, "tuesday")}).front();
  EXPECT_EQ(ceiling.from, "monday");
}

TEST_F(KeptCeilings, OfOtherThreadsItIsAnother) {
  kept(reading(10, 11, 1));
  EXPECT_EQ(kept(reading(5, 6, 4)), 5);
}

TEST_F(KeptCeilings, WhatIsForgottenCountsNoMore) {
  kept(reading(10, 11));
  forget_ceilings(path_);
  EXPECT_EQ(kept(reading(3, 4)), 3);
}

TEST_F(KeptCeilings, AFileThatIsNoneCountsForNothing) {
  kept(reading(10, 11));
  for (const char* text :
       {"", "[]", "{", R"({"schema":"assay.ceilings/1","ceilings":7})",
        R"({"schema":"assay.ceilings/1","ceilings":[{"value":"x"},3]})",
        R"({"schema":"assay.ceilings/1","ceilings":[{"name":7,"value":1e300}]})"}) {
    ASSERT_TRUE(write_file_atomic(path_, text));
    EXPECT_EQ(kept(reading(3, 4)), 3) << text;
  }
}

TEST_F(KeptCeilings, WithoutAFolderTheReadingsCount) {
  EXPECT_EQ(kept_ceilings_path({}, "some processor"), "");
  EXPECT_EQ(keep_ceilings("", {reading(3, 4)}).front().value, 3);
}

}  // namespace
}  // namespace assay::measure
