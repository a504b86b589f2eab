#include "cli/flags/arguments.h"

#include <fstream>

#include <CLI/CLI.hpp>
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

TEST(ArgumentsTest, AnEmptyValueIsNamedAndNothingElseIs) {
  CLI::App app("x", "assay");
  CLI::App* race = app.add_subcommand("race");
  std::string text;
  bool quiet = false;
  app.add_option("--device", text);
  race->add_option("--require", text);
  race->add_option("--extra-profiler-flags", text);
  race->add_option("file", text);
  race->add_flag("-q,--quiet", quiet);
  const auto said = [&](const Words& words) { return empty_value(words, app, *race); };
  const std::string refused =
      "race: the value of --require is empty; write one, or leave the flag out";
  EXPECT_EQ(said({"assay", "race", "--require", ""}), refused);
  EXPECT_EQ(said({"assay", "race", "--require=", "--quiet"}), refused);
  EXPECT_NE(said({"assay", "race", "--device", ""}), "");
  EXPECT_EQ(said({"assay", "race", "--require", "--device", ""}), "");  // A value with dashes.
  EXPECT_EQ(said({"assay", "race", "--quiet", "", "--require", "a"}), "");
  EXPECT_EQ(said({"assay", "race", "--extra-profiler-flags", "", "--require=a="}), "");
  EXPECT_EQ(said({"assay", "race", "--", "--require", ""}), "");
  EXPECT_EQ(said({"assay", "race", "--require"}), "");  // Missing: the parser says so.
}

TEST(ArgumentsTest, WhatIsBehindTwoDashesIsAnothersBusiness) {
  const Words words = {"assay", "device", "--", "x", "--provider", "openblas", "blis"};
  EXPECT_EQ(spread(words), words);
  const Words last = {"assay", "race", "--provider"};
  EXPECT_EQ(spread(last), last);
}

}  // namespace
}  // namespace assay::cli
