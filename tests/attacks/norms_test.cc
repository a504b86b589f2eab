// Attackers of an operation that has one product and no library: RMS normalisation.

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/attacks/race.h"

namespace assay {
namespace {

using testing::AssayProgram;
using ::testing::HasSubstr;
using testing::Race;

// Each attack is a mismatch whose sentence has those words, and the honest kernel wins.
void expect_found(const std::string& shape, const std::string& honest_name,
                  const std::vector<std::pair<std::string, std::string>>& attacks) {
  testing::RaceOptions options{.shapes = {shape}, .budget = "4s", .more = {"--exhaustive"}};
  const auto file = [](const std::string& name) {
    return AssayProgram::source("tests/attacks/norms/" + name + ".cc");
  };
  options.files = {file(honest_name)};
  for (const auto& [attack, sentence] : attacks) options.files.push_back(file(attack));
  const Race race = Race::run(options);
  ASSERT_TRUE(race.has_record()) << race.finished().err;
  for (const auto& [attack, sentence] : attacks) {
    const KernelOutcome* kernel = race.outcome(attack);
    ASSERT_NE(kernel, nullptr) << attack;
    EXPECT_EQ(ending_name(kernel->ending), "mismatch") << attack;
    EXPECT_THAT(ending_sentence(kernel->ending), HasSubstr(sentence)) << attack;
  }
  const KernelOutcome* honest = race.outcome(honest_name);
  ASSERT_NE(honest, nullptr);
  EXPECT_TRUE(is_timed(honest->ending)) << ending_sentence(honest->ending);
  EXPECT_EQ(race.winner(), honest_name);
  const auto compared = race.assay().run({"compare", "--recompute", "run/record.json"});
  EXPECT_EQ(compared.code(), 0) << compared.out << compared.err;
}

TEST(NormAttacksTest, RowsSkippedWeightsLeftOutAndNarrowSumsAreFound) {
  expect_found("operation=rmsnorm,m=16,n=4096,dtype=f32", "honest_norm",
               {{"skipped_rows", "wrong"},
                {"no_weights", "wrong"},
                {"narrow_sums", ""}});  // By its elements, or in the mean.
}

TEST(NormAttacksTest, ResidualsNotAddedNotWrittenBackOrOfAnotherLaunchAreFound) {
  expect_found("operation=rmsnorm,m=16,n=4096,dtype=f32,residual=f32", "honest_add",
               {{"kept_residual", "residual["}, {"x_alone", "out["}, {"first_residual", ""}});
}

}  // namespace
}  // namespace assay
