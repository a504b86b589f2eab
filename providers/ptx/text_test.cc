#include "text.h"

#include <gmock/gmock.h>

namespace assay::ptx {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PtxText, TellsVersionTargetAndKernels) {
  const TextFacts facts = read_text(
      "// .target sm_70 .entry commented\n"
      "/* .entry commented_too ( */\n"
      ".version 8.0\n.target sm_90a, debug\n.address_size 64\n"
      ".visible .entry first(.param .u64 p)\n{ ret; }\n"
      ".weak .entry\tsecond (\n) { ret; }\n");
  EXPECT_EQ(facts.version, "8.0");
  EXPECT_EQ(facts.target, "sm_90a");
  EXPECT_THAT(facts.entries, ElementsAre("first", "second"));
}

TEST(PtxText, HostileTextIsEmptyAndDoesNotHang) {
  for (const char* text :
       {"", ".entry", ".target ", ".version\n", "/*", "x.entry f(", ".entryf("}) {
    const TextFacts facts = read_text(text);
    EXPECT_EQ(facts.version, "") << text;
    EXPECT_THAT(facts.entries, IsEmpty()) << text;
  }
}

TEST(PtxText, PlainCodeRunsLaterFeaturesOnTheirOwn) {
  EXPECT_TRUE(runs_on("sm_80", "sm_80"));
  EXPECT_TRUE(runs_on("sm_80", "sm_90a"));
  EXPECT_FALSE(runs_on("sm_90", "sm_89"));
  EXPECT_TRUE(runs_on("sm_90a", "sm_90a"));
  EXPECT_FALSE(runs_on("sm_90a", "sm_100a"));
  EXPECT_TRUE(runs_on("sm_100f", "sm_103a"));
  EXPECT_FALSE(runs_on("sm_100f", "sm_120a"));
  EXPECT_FALSE(runs_on("sm_", "sm_90a"));
  EXPECT_FALSE(runs_on("sm_90x", "sm_90a"));
}

}  // namespace
}  // namespace assay::ptx
