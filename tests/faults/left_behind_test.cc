// What a candidate leaves behind in a session of its own, where neither its group's end nor that of
// its parent reaches it: it ends with its worker all the same, however the run ends.

#include <fcntl.h>
#include <signal.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <vector>

#include <gmock/gmock.h>

#include "assay/base/fd.h"
#include "testing/assay_program.h"

namespace assay {
namespace {

using testing::AssayProgram;
using testing::Finished;
using ::testing::HasSubstr;
using testing::Rights;
using testing::Running;

class LeftBehindTest : public ::testing::TestWithParam<Rights> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(write_file_atomic(assay_.file("marker"), ""));
    // A worker may be another user, who must find the marker.
    ASSERT_EQ(::chmod(assay_.folder().c_str(), 0755), 0);
    ASSERT_EQ(::chmod(assay_.file("marker").c_str(), 0644), 0);
    const auto wrapper = assay_.with(GetParam());
    if (!wrapper) GTEST_SKIP() << "this user cannot run the program with other rights";
    wrapper_ = *wrapper;
  }

  Running start(const std::vector<std::string>& kernels) {
    std::vector<std::string> words = {"sweep",
                                      "--shape",
                                      "m=24,n=40,k=57,dtype=f32,layout=tt",
                                      "--provider",
                                      "cpp_source",
                                      "--threads",
                                      "1",
                                      "--budget",
                                      "1s",
                                      "--processes",
                                      "2",
                                      "--timeout",
                                      "600s",
                                      "--output-dir",
                                      "run",
                                      "--kernels"};
    for (const std::string& kernel : kernels)
      words.push_back(AssayProgram::source("tests/faults/candidates/" + kernel + ".cc"));
    return assay_.start(words, wrapper_);
  }

  // Whether the grandchild lives: it holds the marker's lock.
  bool lives() const {
    const UniqueFd marker(::open(assay_.file("marker").c_str(), O_RDONLY | O_CLOEXEC));
    return ::flock(marker.get(), LOCK_EX | LOCK_NB) != 0;
  }
  void expect_nothing_left(const Running& running) const {
    EXPECT_TRUE(testing::wait_until([&] { return !lives(); }, 20));
    EXPECT_TRUE(running.leaves_nothing());
  }

  AssayProgram assay_;
  std::vector<std::string> wrapper_;
};

TEST_P(LeftBehindTest, EndsWithTheRun) {
  Running running = start({"good", "detaches"});
  ASSERT_TRUE(testing::wait_until([&] { return lives(); })) << running.errors_so_far();
  ASSERT_TRUE(write_file_atomic(assay_.file("seen"), ""));
  const Finished finished = running.wait();
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_FALSE(lives()) << "before the program itself has ended";
  expect_nothing_left(running);
  // It is no longer its child's child, and nevertheless known whose it was.
  const auto record = load_record(assay_.file("run/record.json"));
  ASSERT_TRUE(record) << record.error().message;
  const KernelOutcome* kernel = testing::find_kernel(record->problems.at(0), "detaches");
  ASSERT_NE(kernel, nullptr);
  EXPECT_THAT(ending_sentence(kernel->ending), HasSubstr("background_work"));
}

TEST_P(LeftBehindTest, EndsWithCtrlC) {
  Running running = start({"detaches", "loops"});
  ASSERT_TRUE(testing::wait_until([&] { return lives(); })) << running.errors_so_far();
  running.signal(SIGINT);
  const Finished finished = running.wait();
  EXPECT_EQ(finished.code(), 130) << finished.err;
  EXPECT_FALSE(lives()) << "before the program itself has ended";
  expect_nothing_left(running);
}

TEST_P(LeftBehindTest, EndsWithAParentThatWasKilled) {
  Running running = start({"detaches", "loops"});
  ASSERT_TRUE(testing::wait_until([&] { return lives(); })) << running.errors_so_far();
  running.signal(SIGKILL);
  running.wait();
  expect_nothing_left(running);
}

INSTANTIATE_TEST_SUITE_P(With, LeftBehindTest,
                         ::testing::Values(Rights::own, Rights::another_user,
                                           Rights::none_to_separate),
                         [](const auto& one) { return std::string(to_string(one.param)); });

}  // namespace
}  // namespace assay
