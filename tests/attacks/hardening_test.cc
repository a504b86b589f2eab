// Kernels that would change what times them, or how their neighbours compute: the code of the
// process, or its state when their objects are loaded. And honest ones that do what looks alike.

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/attacks/race.h"

namespace assay {
namespace {

using testing::AssayProgram;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kernel_of;
using ::testing::Not;
using testing::Race;
using testing::RaceOptions;
using testing::Rights;

std::string honest(const std::string& name) {
  return AssayProgram::source("tests/attacks/honest/" + name + ".cc");
}

std::vector<std::string> codes_of(const KernelOutcome& kernel) {
  std::vector<std::string> codes;
  for (const Finding& finding : kernel.findings) codes.push_back(finding.code);
  return codes;
}

std::string sentences_of(const KernelOutcome& kernel) {
  std::string all = ending_sentence(kernel.ending);
  for (const Finding& finding : kernel.findings) all += "; " + finding.sentence;
  return all;
}

void expect_timed(const Race& race, const std::string& name) {
  const KernelOutcome* kernel = race.outcome(name);
  ASSERT_NE(kernel, nullptr) << name;
  EXPECT_TRUE(is_timed(kernel->ending)) << name << ": " << ending_sentence(kernel->ending);
}

// Each way to change code that it does not own; right where all of it is denied, else wrong.
const std::vector<std::string> kPatching = {"62_writable_clock",
                                            "62_writable_library",
                                            "62_writable_pointers",
                                            "62_program_pointers",
                                            "62_memory_file",
                                            "62_memory_file_of_clock",
                                            "62_moved_copy",
                                            "62_moved_away",
                                            "62_unmapped",
                                            "62_mapped_over",
                                            "62_dropped",
                                            "62_protection_key",
                                            "62_ring",
                                            "62_written_by_system",
                                            "62_child_of_our_memory",
                                            "62_open_again",
                                            "62_system_calls_as_signals",
                                            "62_clock_as_signal",
                                            "62_breakpoint",
                                            "42_other_device",
                                            "62_own_mounts",
                                            "62_shared_over",
                                            "62_later_thread"};

class PatchedCodeTest : public ::testing::TestWithParam<Rights> {};

TEST_P(PatchedCodeTest, NoWayLeadsThere) {
  RaceOptions options{.kernels = kPatching, .processes = 2};
  const AssayProgram place;
  const auto wrapper = place.with(GetParam());
  if (!wrapper) GTEST_SKIP() << "this user cannot run the program with other rights";
  const Race race = Race::run(options, GetParam());
  ASSERT_TRUE(race.has_record()) << race.finished().err;
  for (const std::string& kernel : kPatching) expect_timed(race, kernel_of(kernel));
  EXPECT_THAT(race.record().trust_reason, Not(HasSubstr("does not let assay see")));
  EXPECT_THAT(race.record().trust_reason, Not(HasSubstr("can change the code")));
}

INSTANTIATE_TEST_SUITE_P(With, PatchedCodeTest,
                         ::testing::Values(Rights::own, Rights::another_user,
                                           Rights::none_to_separate),
                         [](const auto& one) { return std::string(to_string(one.param)); });

// Systems before Linux 6.10 cannot seal pages: filters of system calls keep them.
TEST(PatchedCodeTest, NoWayLeadsThereWhereNothingCanBeSealed) {
  const Race race =
      Race::run({.kernels = kPatching, .processes = 2, .wrapper = {ASSAY_WITHOUT_SEALS}});
  ASSERT_TRUE(race.has_record()) << race.finished().err;
  for (const std::string& kernel : kPatching) expect_timed(race, kernel_of(kernel));
  EXPECT_THAT(race.record().trust_reason, Not(HasSubstr("can change the code")));
}

// The code of objects that are loaded, their threads and memory are nobody's business.
TEST(HonestKernelsTest, AreDeniedNothingThatTheyNeed) {
  const std::vector<std::string> names = {"jit",          "memfd_jit", "moving_buffer",
                                          "many_threads", "openmp",    "blas"};
  RaceOptions options{.processes = 2};
  for (const std::string& name : names) options.files.push_back(honest(name));
  for (const bool sealed : {true, false}) {
    if (!sealed) options.wrapper = {ASSAY_WITHOUT_SEALS};
    const Race race = Race::run(options);
    for (const std::string& name : names) {
      ASSERT_NO_FATAL_FAILURE(expect_timed(race, name));
      EXPECT_THAT(codes_of(*race.outcome(name)), IsEmpty()) << sentences_of(*race.outcome(name));
    }
  }
}

struct AtLoad {
  std::string file, code, sentence;
};
const std::vector<AtLoad> kAtLoad = {
    {"66_flush_to_zero", "float_control", "subnormal numbers"},
    {"66_rounds_upward", "float_control", "rounding"},
    {"66_half_precision", "float_control", "rounding"},
    {"66_traps", "float_control", "rounding"},
    {"66_resolver", "float_control", "subnormal numbers"},
    {"66_pool", "float_control", "1 thread"},
    {"66_locale", "process_state", "locale to C.UTF-8"},
    {"66_mode_mask", "process_state", "umask to 777"},
    {"66_ignored_signal", "process_state", "what signal 8 does"},
    {"66_blocked_signals", "process_state", "signals are blocked"},
    {"66_environment", "process_state", "FOREIGN_WORD"},
    {"66_folder", "process_state", "folder to '/'"},
};

// Whoever is loaded beside them computes as before, and each has what it did in the record.
TEST(StateAtLoadTest, IsPutBackAndTold) {
  RaceOptions options{.kernels = {"66_lower_priority"}, .processes = 2};
  options.files.push_back(honest("witness"));
  for (const AtLoad& kernel : kAtLoad) options.kernels.push_back(kernel.file);
  const Race race = Race::run(options);
  ASSERT_TRUE(race.has_record()) << race.finished().err;
  for (const AtLoad& kernel : kAtLoad) {
    const std::string name = kernel_of(kernel.file);
    ASSERT_NO_FATAL_FAILURE(expect_timed(race, name));
    const KernelOutcome& outcome = *race.outcome(name);
    ASSERT_EQ(codes_of(outcome), std::vector<std::string>{kernel.code})
        << name << ": " << sentences_of(outcome);
    EXPECT_THAT(outcome.findings[0].sentence, HasSubstr(kernel.sentence));
  }
  for (const char* name : {"witness", "good", "lower_priority"}) {
    ASSERT_NO_FATAL_FAILURE(expect_timed(race, name));
    EXPECT_THAT(codes_of(*race.outcome(name)), IsEmpty()) << sentences_of(*race.outcome(name));
  }
}

// The loader itself does not get far then.
TEST(StateAtLoadTest, WhatEndsTheLoadEndsItsKernelAlone) {
  const Race race = Race::run({.kernels = {"66_alignment"}, .processes = 2});
  ASSERT_NE(race.outcome("alignment"), nullptr);
  EXPECT_EQ(ending_name(race.outcome("alignment")->ending), "crash");
  expect_timed(race, "good");
}

TEST(StateAtLoadTest, WhatALaunchSetsIsAViolation) {
  const Race race = Race::run({.kernels = {"66_thread_variable"}, .processes = 2});
  ASSERT_NE(race.outcome("thread_variable"), nullptr);
  EXPECT_THAT(ending_sentence(race.outcome("thread_variable")->ending), HasSubstr("float_control"));
  expect_timed(race, "good");
}

// What a kernel holds beside its workspace is in the record, wherever it is.
TEST(OwnMemoryTest, IsCounted) {
  constexpr int64_t kKept = int64_t{24} << 20;
  const std::vector<std::string> keepers = {"34_own_statics", "34_own_heap",  "34_own_file",
                                            "34_own_shared",  "34_own_pipes", "34_own_sockets"};
  const Race race = Race::run({.kernels = keepers, .processes = 2});
  ASSERT_TRUE(race.has_record()) << race.finished().err;
  for (const std::string& keeper : keepers) {
    ASSERT_NO_FATAL_FAILURE(expect_timed(race, kernel_of(keeper)));
    const auto bytes = race.outcome(kernel_of(keeper))->own_memory_bytes;
    ASSERT_TRUE(bytes) << keeper;
    EXPECT_GE(*bytes, kKept * 3 / 4) << keeper;  // The heap had some pages already.
    EXPECT_LE(*bytes, kKept * 2) << keeper;
  }
  ASSERT_TRUE(race.outcome("good")->own_memory_bytes);
  EXPECT_LE(*race.outcome("good")->own_memory_bytes, int64_t{4} << 20);
}

}  // namespace
}  // namespace assay
