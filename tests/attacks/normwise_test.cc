// Kernels whose errors norms bound and not elements: what they promise decides, and is said.

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "assay/record/coarse.h"
#include "tests/attacks/race.h"

namespace assay {
namespace {

using ::testing::AllOf;
using testing::AssayProgram;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::kernel_of;
using testing::Race;
using testing::RaceOptions;

constexpr const char* kShape = "m=32,n=48,k=512,dtype=f32,layout=tt";
const std::vector<std::string> kHonest = {
    AssayProgram::source("tests/attacks/honest/strassen_normwise.cc")};

TEST(NormwiseTest, WhatIsDeclaredIsJudgedByThatAndSaidEverywhere) {
  const Race race = Race::run({.shapes = {kShape}, .files = kHonest});
  ASSERT_TRUE(race.has_record()) << race.finished().err;
  const KernelOutcome* kernel = race.outcome("strassen_normwise");
  ASSERT_NE(kernel, nullptr);
  ASSERT_TRUE(is_timed(kernel->ending)) << ending_sentence(kernel->ending);
  EXPECT_EQ(kernel->proof->word(), "right, normwise");
  EXPECT_LE(kernel->proof->ordinary_lines.rms, kMostOrdinaryNormwise);
  EXPECT_GT(kernel->proof->ordinary_lines.rms, kMostOrdinary) << "else it need not declare it";
  for (const ProofCheck& check : kernel->proof->checks) {
    const bool left_out = check.input == "non_finite" || check.input == "exact";
    EXPECT_EQ(check.compared == 0, left_out) << check.input;
    if (left_out)
      EXPECT_THAT(check.method, HasSubstr("left out: normwise"));
    else if (check.input == "exact_blocks")
      EXPECT_THAT(check.method, HasSubstr("bit for bit"));
    else
      EXPECT_THAT(check.method, EndsWith(", normwise"));
  }
  EXPECT_EQ(kernel->metadata.json().at("error"), "normwise");
  EXPECT_EQ(race.assay().run({"compare", "--recompute", "run/record.json"}).code(), 0);
  EXPECT_THAT(race.finished().out, HasSubstr("(normwise)"));
}

TEST(NormwiseTest, TheVerdictOfARaceNamesTheBound) {
  const AssayProgram assay;
  const auto ran = assay.run({"race", kHonest.front(), "--shape", kShape, "--threads", "1",
                              "--budget", "1s", "--output-dir", "run"});
  // Whatever the lines' ends.
  std::string out = ran.out;
  for (size_t at = 0; (at = out.find("\n          ")) != std::string::npos;)
    out.replace(at, 11, " ");
  EXPECT_THAT(out, AllOf(HasSubstr("(1 of them normwise)"), HasSubstr("] (right, normwise)")))
      << ran.err;
}

TEST(NormwiseTest, WhatIsNotDeclaredIsAMismatchThatSaysByWhichBound) {
  const Race race = Race::run({.kernels = {"84_strassen_undeclared"}, .shapes = {kShape}});
  ASSERT_TRUE(race.has_record()) << race.finished().err;
  const KernelOutcome* kernel = race.outcome("strassen_undeclared");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(ending_name(kernel->ending), "mismatch");
  EXPECT_THAT(ending_sentence(kernel->ending), EndsWith(normwise_advice()));
}

TEST(NormwiseTest, AWiderBoundHidesNoCoarseArithmetic) {
  const std::vector<std::string> attacks = {"85_normwise_weights_of_16_bits",
                                            "85_normwise_half_of_k", "85_normwise_bfloat16"};
  const Race race = Race::run({.kernels = attacks, .shapes = {kShape}, .more = {"--exhaustive"}});
  ASSERT_TRUE(race.has_record()) << race.finished().err;
  for (const std::string& attack : attacks) {
    const KernelOutcome* kernel = race.outcome(kernel_of(attack));
    ASSERT_NE(kernel, nullptr) << attack;
    EXPECT_EQ(ending_name(kernel->ending), "mismatch") << attack;
  }
}

}  // namespace
}  // namespace assay
