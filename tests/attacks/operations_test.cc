// Attackers of operations that a user defines, and of products of bytes.

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/attacks/race.h"

namespace assay {
namespace {

using testing::AssayProgram;
using ::testing::HasSubstr;
using testing::Race;

std::string file_of(const std::string& name) {
  return AssayProgram::source("tests/attacks/" + name + ".cc");
}

TEST(OperationAttackTest, WhoLooksAtFewElementsOfARowIsFound) {
  const Race race =
      Race::run({.kernels = {},
                 .shapes = {"m=16,n=1000"},
                 .more = {"--exhaustive"},
                 .files = {file_of("operations/whole_rows"), file_of("operations/sampled_rows")}});
  ASSERT_TRUE(race.has_record()) << race.finished().err;
  const KernelOutcome* attack = race.outcome("sampled_rows");
  ASSERT_NE(attack, nullptr);
  EXPECT_EQ(ending_name(attack->ending), "mismatch") << ending_sentence(attack->ending);
  const KernelOutcome* honest = race.outcome("whole_rows");
  ASSERT_NE(honest, nullptr);
  EXPECT_TRUE(is_timed(honest->ending)) << ending_sentence(honest->ending);
}

// Launches are short, so that a race has many more of them than a proof.
TEST(OperationAttackTest, WhoLooksAtRowsInProofsAloneIsFoundByTimedNeedles) {
  const Race race = Race::run(
      {.kernels = {},
       .shapes = {"m=16,n=100"},
       .budget = "2s",
       .more = {"--exhaustive"},
       .files = {file_of("operations/whole_rows"), file_of("operations/small_once_timed")}});
  ASSERT_TRUE(race.has_record()) << race.finished().err;
  const KernelOutcome* attack = race.outcome("small_once_timed");
  ASSERT_NE(attack, nullptr);
  EXPECT_EQ(ending_name(attack->ending), "mismatch");
  EXPECT_THAT(ending_sentence(attack->ending), HasSubstr("timed launch"));
  const KernelOutcome* honest = race.outcome("whole_rows");
  ASSERT_NE(honest, nullptr);
  EXPECT_TRUE(is_timed(honest->ending)) << ending_sentence(honest->ending);
}

TEST(OperationAttackTest, WhoCannotMultiplyOrAddTheLowestBytesIsFound) {
  const Race race =
      Race::run({.kernels = {},
                 .shapes = {"m=24,n=40,k=57,dtype=s8,layout=tn"},
                 .files = {file_of("bytes/no_lowest_byte"), file_of("bytes/sums_of_16_bits")}});
  ASSERT_TRUE(race.has_record()) << race.finished().err;
  for (const char* name : {"no_lowest_byte", "sums_of_16_bits"}) {
    const KernelOutcome* attack = race.outcome(name);
    ASSERT_NE(attack, nullptr) << name;
    EXPECT_EQ(ending_name(attack->ending), "mismatch") << ending_sentence(attack->ending);
  }
}

// What lies between rows is somebody else's.
void expect_writes_outside(const Race& race, const std::string& name) {
  ASSERT_TRUE(race.has_record()) << race.finished().err;
  const KernelOutcome* attack = race.outcome(name);
  ASSERT_NE(attack, nullptr) << name;
  const auto* violation = std::get_if<ending::Violation>(&attack->ending);
  ASSERT_NE(violation, nullptr) << name << ": " << ending_sentence(attack->ending);
  EXPECT_EQ(violation->code, "writes_outside");
}

TEST(OperationAttackTest, WhoWritesBetweenTheRowsOfAnOutputIsFound) {
  const Race race =
      Race::run({.kernels = {},
                 .shapes = {"m=24,n=40,k=57,dtype=f32,layout=tt,ldout=48"},
                 .more = {"--exhaustive"},
                 .files = {file_of("gaps/between_rows"), file_of("gaps/rows_alone")}});
  expect_writes_outside(race, "between_rows");
  const KernelOutcome* honest = race.outcome("rows_alone");
  ASSERT_NE(honest, nullptr);
  EXPECT_TRUE(is_timed(honest->ending)) << ending_sentence(honest->ending);
}

TEST(OperationAttackTest, WhoWritesBetweenTheRowsInTimedLaunchesAloneIsFound) {
  const Race race =
      Race::run({.kernels = {},
                 .shapes = {"m=8,n=16,k=16,dtype=f32,layout=tt,ldout=24"},
                 .budget = "2s",
                 .more = {"--exhaustive"},
                 .files = {file_of("gaps/between_rows_once_timed"), file_of("gaps/rows_alone")}});
  expect_writes_outside(race, "between_rows_once_timed");
  EXPECT_THAT(ending_sentence(race.outcome("between_rows_once_timed")->ending),
              HasSubstr("while it was timed"));
  const KernelOutcome* honest = race.outcome("rows_alone");
  ASSERT_NE(honest, nullptr);
  EXPECT_TRUE(is_timed(honest->ending)) << ending_sentence(honest->ending);
}

TEST(OperationAttackTest, WhoWritesBetweenTheRowsOfANormIsFound) {
  expect_writes_outside(Race::run({.kernels = {},
                                   .shapes = {"operation=rmsnorm,m=16,n=1000,ldout=1008"},
                                   .files = {file_of("norms/between_rows")}}),
                        "between_rows");
}

}  // namespace
}  // namespace assay
