// One sweep over kernels that misbehave in every way that we know: each is recorded as what it is,
// and the others have the same place as without them.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "testing/assay_program.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kShape = "m=24,n=40,k=57,dtype=f32,layout=tt";

std::vector<std::string> sweep_of(const std::vector<std::string>& kernels,
                                  const std::string& output) {
  std::vector<std::string> words = {
      "sweep", "--shape",        kShape,   "--provider",   "cpp_source", "--threads",
      "1",     "--budget",       "3s",     "--processes",  "3",          "--timeout",
      "2s",    "--memory-limit", "400MiB", "--output-dir", output,       "--kernels"};
  for (const std::string& kernel : kernels)
    words.push_back(testing::AssayProgram::source("tests/faults/candidates/" + kernel + ".cc"));
  return words;
}

struct Expected {
  std::string kernel;
  ::testing::Matcher<std::string> ending;  // ending_name().
  std::string detail;                      // Somewhere in its sentence.
};

// What was said of the two good kernels, by name.
std::map<std::string, std::string> words_of(const ProblemRecord& problem) {
  std::map<std::string, std::string> words;
  for (const PairVerdict& pair : problem.conclusion()->against_leader) {
    const KernelOutcome* kernel = problem.find(pair.candidate);
    if (kernel != nullptr && kernel->name == "steady")
      words[kernel->name] = std::string(stats::to_string(pair.verdict.word));
  }
  return words;
}

TEST(CandidatesTest, EachIsRecordedAsWhatItIsAndTheOthersKeepTheirPlace) {
  const std::vector<Expected> expected = {
      {"segfaults", "crash", "SIGSEGV"},
      {"aborts", "crash", "SIGABRT"},
      {"throws", "crash", "SIGABRT"},
      {"exits", "crash", "exit code 0"},
      {"closes_channel", "timed", ""},  // Which it is not allowed to.
      {"forks_and_crashes", "crash", "SIGSEGV"},
      {"crashes_when_timed", "crash", "(SIGSEGV)"},
      {"loops", "timeout", "while it was proven"},
      {"stops_itself", "timeout", "while it was proven"},
      {"leaks", "out_of_memory", "while it was proven"},
      {"does_not_compile", "build_failure", "does_not_compile.cc"},
      {"writes_after", "violation", "writes_outside"},
      {"writes_before", "violation", "writes_outside"},
      {"writes_beside_input", "violation", "writes_outside"},
      {"writes_past_workspace", "violation", "the workspace"},
      {"changes_input", "violation", "inputs_changed"},
      {"changes_rounding", "violation", "float_control"},
      {"flushes_subnormals", "violation", "float_control"},
      {"keeps_spinning", "violation", "background_work"},
      {"forges", "violation", "protocol"},
      {"forges_and_stays", "violation", "protocol"},
      {"breaks_framing", "violation", "protocol"},
      {"closes_channel_and_stays", "timeout", "ran past"},
      {"wrong_tail", "mismatch", ""},
      {"wrong_second_call", "mismatch", ""},
      {"wrong_third_call", "mismatch", ""},
      {"idle_when_timed", ::testing::AnyOf("mismatch", "violation"), ""},
      {"caches_by_pointer", "mismatch", ""},
      {"prints", "timed", ""},
      {"forks", "violation", "background_work"},
      {"forks_when_timed", "violation", "background_work"},
      {"includes_without_end", "build_failure", "needs more than the 1024 MiB of memory"},
      {"multiplies", "mismatch", ""},
      {"wavers", "timed", ""},
  };
  const testing::AssayProgram assay;
  const testing::Finished alone = assay.run(sweep_of({"good", "steady"}, "alone"));
  ASSERT_EQ(alone.code(), 0) << alone.err;

  // The good ones stand at both ends and in the middle, so that each kind of neighbour is met.
  std::vector<std::string> kernels = {"good"};
  for (const Expected& kernel : expected) kernels.push_back(kernel.kernel);
  kernels.push_back("steady");
  testing::Running running = assay.start(sweep_of(kernels, "together"));
  const testing::Finished together = running.wait();
  ASSERT_EQ(together.code(), 0) << together.err;
  EXPECT_TRUE(running.leaves_nothing());
  EXPECT_THAT(together.out, Not(HasSubstr("GARBAGE")));
  EXPECT_THAT(together.err, Not(HasSubstr("GARBAGE")));
  EXPECT_LT(together.out.size(), 20'000u);
  EXPECT_LT(together.err.size(), 50'000u);

  const auto before = load_record(assay.file("alone/record.json"));
  const auto after = load_record(assay.file("together/record.json"));
  ASSERT_TRUE(before) << before.error().message;
  ASSERT_TRUE(after) << after.error().message;
  const ProblemRecord& problem = after->problems.at(0);
  for (const Expected& want : expected) {
    const KernelOutcome* kernel = testing::find_kernel(problem, want.kernel);
    ASSERT_NE(kernel, nullptr) << want.kernel;
    const std::string sentence = ending_sentence(kernel->ending);
    EXPECT_THAT(std::string(ending_name(kernel->ending)), want.ending)
        << want.kernel << " " << sentence;
    EXPECT_THAT(sentence, HasSubstr(want.detail)) << want.kernel;
  }
  const KernelOutcome* wavers = testing::find_kernel(problem, "wavers");
  ASSERT_NE(wavers, nullptr);
  EXPECT_TRUE(
      std::any_of(wavers->findings.begin(), wavers->findings.end(),
                  [](const Finding& finding) { return finding.code == "nondeterministic"; }));

  // The winner is the same, alone at the front, and as far ahead of the other.
  for (const ProblemRecord* record : {&before->problems.at(0), &problem}) {
    for (const char* name : {"good", "steady"}) {
      const KernelOutcome* kernel = testing::find_kernel(*record, name);
      ASSERT_NE(kernel, nullptr);
      EXPECT_TRUE(is_timed(kernel->ending)) << name << " " << ending_sentence(kernel->ending);
      ASSERT_TRUE(kernel->proof) << name;
      EXPECT_TRUE(kernel->proof->right) << name;
      EXPECT_TRUE(kernel->proof->bitwise_repeatable) << name;
    }
    ASSERT_NE(record->winner(), nullptr) << record->no_winner;
    EXPECT_EQ(record->winner()->name, "good");
    EXPECT_THAT(record->conclusion()->tied, ::testing::SizeIs(1));
  }
  // Where it came as far as that in both.
  const auto words = words_of(before->problems.at(0)), words_now = words_of(problem);
  if (!words.empty() && !words_now.empty()) {
    EXPECT_EQ(words, words_now);
  }
}

struct Timed {
  const char* kernel;
  const char* sentence;
};
std::ostream& operator<<(std::ostream& out, const Timed& timed) { return out << timed.kernel; }
class MischiefWhileTimed : public ::testing::TestWithParam<Timed> {};

TEST_P(MischiefWhileTimed, IsFoundAndSpoilsNobodysResults) {
  const testing::AssayProgram assay;
  std::vector<std::string> words = sweep_of({"good", GetParam().kernel, "steady"}, "run");
  words.insert(words.begin() + 1, "--exhaustive");  // So that nobody leaves before it is found.
  const testing::Finished finished = assay.run(words);
  ASSERT_EQ(finished.code(), 0) << finished.err;
  const auto record = load_record(assay.file("run/record.json"));
  ASSERT_TRUE(record) << record.error().message;
  const ProblemRecord& problem = record->problems.at(0);
  EXPECT_THAT(ending_sentence(testing::find_kernel(problem, GetParam().kernel)->ending),
              HasSubstr(GetParam().sentence));
  for (const char* name : {"good", "steady"}) {
    const Ending& ending = testing::find_kernel(problem, name)->ending;
    EXPECT_TRUE(is_timed(ending)) << name << " " << ending_sentence(ending);
  }
  ASSERT_NE(problem.winner(), nullptr) << problem.no_winner;
  EXPECT_EQ(problem.winner()->name, "good");
}

INSTANTIATE_TEST_SUITE_P(CandidatesTest, MischiefWhileTimed,
                         ::testing::Values(Timed{"changes_input_when_timed",
                                                 "wrote to an input while it was timed"},
                                           Timed{"writes_beside_when_timed", "while it was timed"},
                                           Timed{"writes_after_when_timed", "while it was timed"}),
                         [](const auto& instance) { return std::string(instance.param.kernel); });

}  // namespace
}  // namespace assay
