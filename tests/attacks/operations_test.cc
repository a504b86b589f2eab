// Attackers of operations that a user defines, and of products of bytes.

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/attacks/race.h"

namespace assay {
namespace {

using testing::AssayProgram;
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

TEST(OperationAttackTest, WhoCannotMultiplyTheLowestByteIsFound) {
  const Race race = Race::run({.kernels = {},
                               .shapes = {"m=24,n=40,k=57,dtype=s8,layout=tn"},
                               .files = {file_of("bytes/no_lowest_byte")}});
  ASSERT_TRUE(race.has_record()) << race.finished().err;
  const KernelOutcome* attack = race.outcome("no_lowest_byte");
  ASSERT_NE(attack, nullptr);
  EXPECT_EQ(ending_name(attack->ending), "mismatch") << ending_sentence(attack->ending);
}

}  // namespace
}  // namespace assay
