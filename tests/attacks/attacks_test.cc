// The corpus of attacks: each kernel would shine in a naive benchmark. One race of all of them,
// with one honest kernel among them; README.md says what catches each, and what is not caught.

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/attacks/race.h"

namespace assay {
namespace {

using ::testing::AnyOf;
using testing::AssayProgram;
using ::testing::Contains;
using ::testing::HasSubstr;
using testing::kernel_of;
using ::testing::Matcher;
using testing::Race;
using testing::RaceOptions;

struct Attack {
  std::string file;             // tests/attacks/kernels/<file>.cc.
  Matcher<std::string> ending;  // ending_name().
  Matcher<std::string> sentence = HasSubstr("");
};

TEST(AttacksTest, EachIsCaughtOrIsALimitThatTheTrustGradeNames) {
  const std::vector<Attack> caught = {
      {"02_late_thread", AnyOf("mismatch", "crash")},
      {"03_left_running", "violation", HasSubstr("background_work")},
      {"05_pointer_replay", "mismatch"},
      {"06_fingerprint_replay", "mismatch"},
      {"07_file_replay", "mismatch"},
      {"09_phase_detection", "mismatch", HasSubstr("timed launch")},
      {"10_leftover_memory", "mismatch"},
      {"11_wildcard_nan", "mismatch", HasSubstr("timed launch")},
      {"12_zeroed_inputs", AnyOf("violation", "mismatch")},
      {"13_pass_through", "mismatch"},
      {"17_forged_result", "violation", HasSubstr("protocol")},
      {"23_structure_sampling", "mismatch"},
      {"24_zero_exit", "mismatch"},
      {"25_constant_output", "mismatch"},
      {"26_partial_work", "mismatch"},
      {"27_precision_downgrade", "mismatch"},
      {"28_data_race", "mismatch"},
      {"29_swallowed_error", "mismatch", HasSubstr("timed launch")},
      {"30_neighbours_scratch", "violation", HasSubstr("writes_outside")},
      {"36_fewer_terms", "mismatch", HasSubstr("timed launch")},
      {"40_flush_cache", AnyOf("violation", "mismatch")},
      {"45_below_physics", AnyOf("violation", "mismatch")},
  };
  // What is right on the shape that is asked about, in memory that a process of this user may use,
  // is right: only other shapes, and an eye on the memory, would tell. The two of the harness have
  // nothing left but to be right, where workers can be confined: ConfinementTest says where. The
  // last ones find nothing to replay, since no numbers come twice.
  const std::vector<Attack> limits = {
      {"11_expected_answer", AnyOf("timed", "mismatch")},
      {"22_shape_lookup", "timed"},
      {"32_prefetched_sets", "timed"},
      {"34_hidden_packing", "timed"},
      {"41_rare_work", "timed"},
      {"18_harness_memory", AnyOf("timed", "mismatch")},
      {"19_harness_files", AnyOf("timed", "mismatch")},
      {"46_factor_replay", "timed"},
      {"54_first_set", "timed"},
      {"54_all_sets", "timed"},
      {"55_warm_replay", "timed"},
  };

  const AssayProgram assay;
  RaceOptions options{.budget = "6s", .more = {"--timeout", "5s", "--exhaustive"}};  // None leaves.
  for (const auto* list : {&caught, &limits})
    for (const Attack& attack : *list) options.kernels.push_back(attack.file);
  testing::Running running = assay.start(race_words(options));
  const testing::Finished finished = running.wait();
  ASSERT_EQ(finished.code(), 0) << finished.err;
  EXPECT_TRUE(running.leaves_nothing());

  const auto record = load_record(assay.file("run/record.json"));
  ASSERT_TRUE(record) << record.error().message;
  const ProblemRecord& problem = record->problems.at(0);
  for (const auto* list : {&caught, &limits}) {
    for (const Attack& attack : *list) {
      const KernelOutcome* kernel = testing::find_kernel(problem, kernel_of(attack.file));
      ASSERT_NE(kernel, nullptr) << attack.file;
      const std::string sentence = ending_sentence(kernel->ending);
      EXPECT_THAT(std::string(ending_name(kernel->ending)), attack.ending)
          << attack.file << " " << sentence;
      EXPECT_THAT(sentence, attack.sentence) << attack.file;
      // Whatever a kernel that was caught claimed, it won nothing.
      if (list == &caught && problem.conclusion() != nullptr) {
        EXPECT_NE(problem.conclusion()->winner, kernel->id) << attack.file;
        EXPECT_THAT(problem.conclusion()->tied, ::testing::Not(Contains(kernel->id)))
            << attack.file;
      }
    }
  }
  const KernelOutcome* good = testing::find_kernel(problem, "good");
  ASSERT_NE(good, nullptr);
  EXPECT_TRUE(is_timed(good->ending)) << ending_sentence(good->ending);
  // A cheat that led for a while takes nobody with it: the honest kernel stays to the end.
  ASSERT_NE(problem.winner(), nullptr) << problem.no_winner;
  EXPECT_THAT(problem.winner()->name,
              AnyOf("good", "shape_lookup", "hidden_packing", "harness_memory", "harness_files",
                    "factor_replay", "first_set", "all_sets", "warm_replay", "expected_answer",
                    "prefetched_sets", "rare_work"));
  // Nothing better than this may be said of native code, whose timer shares its address space.
  EXPECT_NE(record->trust, TrustGrade::device_code);
  EXPECT_THAT(record->trust_reason, HasSubstr("native code"));
}

// At its pretended time everybody else is hopeless, and dropped before it is found out.
TEST(AttacksTest, ACheatThatLeadsTakesNobodyWithIt) {
  const Race race = Race::run({.kernels = {"45_below_physics"}});
  EXPECT_EQ(race.finished().code(), 0) << race.finished().err;
  ASSERT_NE(race.outcome("below_physics"), nullptr);
  EXPECT_THAT(std::string(ending_name(race.outcome("below_physics")->ending)),
              AnyOf("violation", "mismatch"));
  EXPECT_EQ(race.winner(), "good");
}

// Many launches to a burst, and none of them is one that nobody can look at, or that finds its
// result where an earlier one left it.
struct LeftOut {
  std::string condition, kernel, constant = "b";
};

class LeftOutTest : public ::testing::TestWithParam<LeftOut> {};

TEST_P(LeftOutTest, NoLaunchOfABurstCanBeLeftOut) {
  const Race race =
      Race::run({.kernels = {GetParam().kernel},
                 .shapes = {"m=4,n=16,k=16,dtype=f32,layout=tt,constant=" + GetParam().constant},
                 .budget = "2s",
                 .more = {"--exhaustive", "--condition", "cache=" + GetParam().condition}});
  EXPECT_EQ(race.finished().code(), 0) << race.finished().err;
  const KernelOutcome* kernel = race.outcome(kernel_of(GetParam().kernel));
  ASSERT_NE(kernel, nullptr);
  EXPECT_THAT(ending_sentence(kernel->ending), HasSubstr("timed launch"));
  EXPECT_EQ(race.winner(), "good");
}

INSTANTIATE_TEST_SUITE_P(Conditions, LeftOutTest,
                         ::testing::Values(LeftOut{"cold_weights", "08_overwritten_launches"},
                                           LeftOut{"cold", "08_overwritten_launches"},
                                           LeftOut{"warm", "06_repeated_inputs"},
                                           LeftOut{"cold", "61_kept_operand", "none"},
                                           LeftOut{"warm", "61_kept_operand", "none"}),
                         [](const auto& test) {
                           return test.param.condition + "_" + test.param.kernel.substr(3);
                         });

TEST(AttacksTest, ALookedUpShapeIsCaughtByAnyOther) {
  const Race race = Race::run(
      {.kernels = {"22_shape_lookup"},
       .shapes = {"m=24,n=40,k=57,dtype=f32,layout=tt", "m=24,n=41,k=57,dtype=f32,layout=tt"},
       .files = {}});
  EXPECT_EQ(race.finished().code(), 1) << race.finished().err;  // One shape has no winner.
  ASSERT_NE(race.outcome("shape_lookup", 1), nullptr);
  EXPECT_EQ(ending_name(race.outcome("shape_lookup", 0)->ending), "timed");
  EXPECT_EQ(ending_name(race.outcome("shape_lookup", 1)->ending), "mismatch");
}

}  // namespace
}  // namespace assay
