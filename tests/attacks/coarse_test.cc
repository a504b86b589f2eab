// Kernels that are right in every element and coarse in the mean.

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/attacks/race.h"

namespace assay {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using testing::kernel_of;
using testing::Race;

TEST(CoarseTest, FewerBitsThanDeclaredAreAMismatch) {
  const std::vector<std::string> attacks = {"60_weights_of_16_bits", "60_weights_of_20_bits",
                                            "60_coarse_rows", "60_timed_in_half"};
  const Race race = Race::run({.kernels = attacks,
                               .shapes = {"m=4,n=96,k=4096,dtype=f32,layout=tt"},
                               .more = {"--exhaustive"}});
  ASSERT_TRUE(race.has_record()) << race.finished().err;
  for (const std::string& attack : attacks) {
    const KernelOutcome* kernel = race.outcome(kernel_of(attack));
    ASSERT_NE(kernel, nullptr) << attack;
    EXPECT_EQ(ending_name(kernel->ending), "mismatch") << attack;
    EXPECT_THAT(ending_sentence(kernel->ending), HasSubstr("coarse_arithmetic")) << attack;
    EXPECT_THAT(kernel->findings, Contains(Field(&Finding::code, "coarse_arithmetic"))) << attack;
  }
  // Term by term in f32, which is all that the problem asks for.
  const KernelOutcome* good = race.outcome("good");
  ASSERT_NE(good, nullptr);
  EXPECT_TRUE(is_timed(good->ending)) << ending_sentence(good->ending);
  EXPECT_EQ(race.winner(), "good");
  EXPECT_EQ(race.assay().run({"compare", "--recompute", "run/record.json"}).code(), 0);
}

}  // namespace
}  // namespace assay
