// Honest kernels that do what looks odd: each is timed, and nothing is held against it but facts.

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/attacks/corpus.h"
#include "tests/attacks/race.h"

namespace assay {
namespace {

using testing::AssayProgram;
using testing::Race;
using testing::RaceOptions;

constexpr int kGroups = 6;

// What a record prints of a kernel and holds against nobody.
const std::set<std::string> kFacts = {"own_memory", "nondeterministic"};

// Where the machine is busy, telling of a burst's moments takes so long that its two clocks differ
// by more than they may. Beside short bursts, a process that runs seldom works for longer.
const std::set<std::string> kOfTheMachine = {"clock", "worked_beside_clock"};

// On one core these make threads for each launch, or give their core away, and part of that is
// nobody's time: they are timed, and are not called faster than those who do not.
const std::set<std::string> kGiveTheirCoreAway = {
    "async_halves",    "joining_threads", "many_threads", "row_counter",
    "split_k_atomics", "thread_scratch",  "yielding"};

bool is_allowed(const std::string& file, const std::string& code) {
  return kFacts.contains(code) || kOfTheMachine.contains(code) ||
         (code == "own_rounds_spoiled" && kGiveTheirCoreAway.contains(file));
}

class HonestTest : public ::testing::TestWithParam<int> {};

// All of a file: one for each value of its tunables.
std::vector<const KernelOutcome*> kernels_of(const ProblemRecord& problem,
                                             const std::string& file) {
  std::vector<const KernelOutcome*> kernels;
  for (const KernelOutcome& kernel : problem.kernels)
    if (kernel.metadata.member("family") == file) kernels.push_back(&kernel);
  return kernels;
}

TEST_P(HonestTest, IsTimedAndNothingIsHeldAgainstIt) {
  const std::vector<std::string> all = testing::corpus_names("honest");
  std::vector<std::string> names;
  RaceOptions options{.processes = 2, .more = {"--exhaustive"}};
  for (size_t i = static_cast<size_t>(GetParam()); i < all.size(); i += kGroups) {
    names.push_back(all[i]);
    options.files.push_back(AssayProgram::source("tests/attacks/honest/" + all[i] + ".cc"));
  }
  const Race race = Race::run(options);
  ASSERT_TRUE(race.has_record()) << race.finished().err;
  EXPECT_EQ(race.finished().code(), 0) << race.finished().err;
  for (const std::string& name : names) {
    const auto kernels = kernels_of(race.problem(), name);
    EXPECT_FALSE(kernels.empty()) << name;
    for (const KernelOutcome* kernel : kernels) {
      EXPECT_TRUE(is_timed(kernel->ending)) << name << ": " << ending_sentence(kernel->ending);
      for (const Finding& finding : kernel->findings)
        EXPECT_TRUE(is_allowed(name, finding.code))
            << name << ": " << finding.code << ", " << finding.sentence;
    }
  }
  for (const Finding& finding : race.problem().findings)
    ADD_FAILURE() << finding.code << ": " << finding.sentence;
}

INSTANTIATE_TEST_SUITE_P(Groups, HonestTest, ::testing::Range(0, kGroups));

TEST(CorpusTest, HasAsManyAsItSays) {
  std::set<std::string> mechanisms;
  const auto attackers = testing::corpus_names("kernels");
  for (const std::string& name : attackers) mechanisms.insert(name.substr(0, 2));
  EXPECT_GE(attackers.size(), 70U);
  EXPECT_GE(mechanisms.size(), 25U);
  EXPECT_GE(testing::corpus_names("honest").size(), 60U);
}

}  // namespace
}  // namespace assay
