#include "cli/arguments.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"

namespace assay::cli {
namespace {

using ::testing::ElementsAreArray;

using Words = std::vector<std::string>;

Words spread(Words words) {
  spread_lists(words);
  return words;
}

TEST(ArgumentsTest, AListEndsWhereAWordOfAnotherKindBegins) {
  EXPECT_THAT(
      spread({"assay", "race", "--provider", "openblas", "native_cpu", "my.cc"}),
      ElementsAreArray({"assay", "race", "--provider=openblas", "--provider=native_cpu", "my.cc"}));
  EXPECT_THAT(spread({"assay", "race", "--shape", "m=1,n=2", "m=3,n=4", "my.cc", "--quiet"}),
              ElementsAreArray(
                  {"assay", "race", "--shape=m=1,n=2", "--shape=m=3,n=4", "my.cc", "--quiet"}));
}

TEST(ArgumentsTest, AFileIsAFileThoughAProviderHasItsName) {
  const auto folder = TemporaryDirectory::create(testing::TempDir());
  ASSERT_TRUE(folder);
  const std::string file = folder->file("k.cc");
  std::ofstream(file) << "x";
  const Words wanted = {"assay", "run", "--kernels=" + file, "--kernels=" + file + "::one",
                        "gone.cc"};
  EXPECT_EQ(spread({"assay", "run", "--kernels", file, file + "::one", "gone.cc"}), wanted);
}

TEST(ArgumentsTest, WhatIsBehindTwoDashesIsAnothersBusiness) {
  const Words words = {"assay", "device", "--", "x", "--provider", "openblas", "blis"};
  EXPECT_EQ(spread(words), words);
  const Words last = {"assay", "race", "--provider"};
  EXPECT_EQ(spread(last), last);
}

}  // namespace
}  // namespace assay::cli
