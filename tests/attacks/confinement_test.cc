// What candidates can reach beside their own process: nobody and nothing, where this user may
// confine them; and where not, the record says what they could have done.

#include <sched.h>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>

#include "tests/attacks/race.h"

namespace assay {
namespace {

using testing::AssayProgram;
using testing::Finished;
using ::testing::HasSubstr;
using testing::Rights;
using testing::Running;

// Whether a process like this one may become another user, or enter namespaces of its own.
bool may_confine(Rights rights) {
  if (rights == Rights::none_to_separate) return false;
  const pid_t child = ::fork();
  if (child == 0) {
    const bool root = rights == Rights::own && ::geteuid() == 0 && ::setresuid(7, 7, 7) == 0;
    if (!root && ::geteuid() == 0) (void)!::setresuid(65534, 65534, 65534);
    _exit(root || ::unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS) == 0 ? 0 : 1);
  }
  int status = 1;
  return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

std::vector<std::string> sweep(const std::vector<std::string>& more = {}) {
  return testing::race_words(
      {.kernels = {"18_harness_memory", "19_harness_files"},
       .shapes = {"m=24,n=40,k=57,dtype=f32,layout=tt", "m=24,n=41,k=57,dtype=f32,layout=tt"},
       .processes = 2,
       .more = more});
}

class ConfinementTest : public ::testing::TestWithParam<Rights> {};

TEST_P(ConfinementTest, NobodyAndNothingIsInReach) {
  const AssayProgram assay;
  // Others may look, so that it is not the folder alone that keeps them out.
  ASSERT_EQ(::chmod(assay.folder().c_str(), 0755), 0);
  const auto wrapper = assay.with(GetParam());
  if (!wrapper) GTEST_SKIP() << "this user cannot run the program with other rights";
  const Finished finished = assay.run(sweep(), *wrapper);
  ASSERT_EQ(finished.code(), 0) << finished.err
                                << testing::endings_of(assay.file("run/record.json"));
  const auto record = load_record(assay.file("run/record.json"));
  ASSERT_TRUE(record) << record.error().message;
  const bool confined = record->trust == TrustGrade::confined_native;
  const Finished doctor = assay.run({"doctor", "--json"}, *wrapper);
  EXPECT_THAT(doctor.out, HasSubstr(confined ? "\"found\": \"confined_native: native code in"
                                             : "\"found\": \"unconfined_native: native code that"));
  EXPECT_EQ(confined, may_confine(GetParam())) << record->trust_reason;
  EXPECT_THAT(record->trust_reason, HasSubstr(confined ? "can neither" : "it can signal"));
  for (const char* name : {"harness_memory", "harness_files"}) {
    const KernelOutcome* attack = testing::find_kernel(record->problems.at(0), name);
    ASSERT_NE(attack, nullptr) << name;
    EXPECT_EQ(ending_name(attack->ending), confined ? "timed" : "mismatch") << name;
  }
}

// The grade of a run that was resumed is that of its weaker part.
TEST(ResumedConfinementTest, IsAsWeakAsItsWeakerPart) {
  for (const bool weak_first : {true, false}) {
    const AssayProgram assay;
    const auto weak = assay.with(Rights::none_to_separate);
    if (!weak || !may_confine(Rights::own))
      GTEST_SKIP() << "this user cannot run the program with two kinds of rights";
    const std::vector<std::string> strong;
    {
      Running first = assay.start(sweep(), weak_first ? *weak : strong);
      ASSERT_TRUE(testing::wait_until(
          [&] { return testing::read_journal(assay.file("run")).count("raced") >= 1; }));
      first.signal(SIGKILL);
      first.wait();
      EXPECT_TRUE(first.leaves_nothing());
    }
    const Finished finished = assay.run(sweep({"--resume"}), weak_first ? strong : *weak);
    ASSERT_EQ(finished.code(), 0) << finished.err
                                  << testing::endings_of(assay.file("run/record.json"));
    const auto record = load_record(assay.file("run/record.json"));
    ASSERT_TRUE(record) << record.error().message;
    EXPECT_EQ(record->trust, TrustGrade::unconfined_native) << weak_first;
    EXPECT_THAT(record->trust_reason, HasSubstr("it can")) << weak_first;

    // Shown again without any work, it is still the same.
    ASSERT_EQ(assay.run(sweep({"--resume"})).code(), 0);
    const auto again = load_record(assay.file("run/record.json"));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->trust_reason, record->trust_reason);
  }
}

TEST(ResumedConfinementTest, IsStrongWhereBothPartsWere) {
  if (!may_confine(Rights::own)) GTEST_SKIP() << "this user cannot confine anything";
  const AssayProgram assay;
  {
    Running first = assay.start(sweep());
    ASSERT_TRUE(testing::wait_until(
        [&] { return testing::read_journal(assay.file("run")).count("raced") >= 1; }));
    first.signal(SIGKILL);
    first.wait();
  }
  ASSERT_EQ(assay.run(sweep({"--resume"})).code(), 0);
  auto record = load_record(assay.file("run/record.json"));
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->trust, TrustGrade::confined_native) << record->trust_reason;
  ASSERT_EQ(assay.run(sweep({"--resume"})).code(), 0);
  record = load_record(assay.file("run/record.json"));
  ASSERT_TRUE(record);
  EXPECT_EQ(record->trust, TrustGrade::confined_native) << record->trust_reason;
}

INSTANTIATE_TEST_SUITE_P(With, ConfinementTest,
                         ::testing::Values(Rights::own, Rights::another_user,
                                           Rights::none_to_separate),
                         [](const auto& one) { return std::string(to_string(one.param)); });

}  // namespace
}  // namespace assay
