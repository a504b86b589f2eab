// Two commands that measure never do so at once, whatever their folders: the second waits, says for
// whom, and goes on when the first has ended, by whatever signal.

#include <signal.h>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "testing/assay_program.h"

namespace assay {
namespace {

using testing::AssayProgram;
using testing::Finished;
using ::testing::HasSubstr;
using testing::Running;

std::string candidate(const std::string& name) {
  return AssayProgram::source("tests/faults/candidates/" + name + ".cc");
}

// One that holds the device until it is stopped: its kernel loops for ever.
std::vector<std::string> endless() {
  return {"sweep",
          "--shape",
          "m=24,n=40,k=57,dtype=f32,layout=tt",
          "--provider",
          "cpp_source",
          "--threads",
          "1",
          "--timeout",
          "600s",
          "--output-dir",
          "holder",
          "--kernels",
          candidate("good"),
          candidate("loops")};
}

std::vector<std::string> quick(const std::string& command, const std::string& folder,
                               const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = {command};
  if (command == "race") words.push_back(candidate("good"));
  if (command == "run") words.emplace_back("good");
  for (const char* word :
       {"--shape", "m=24,n=40,k=57,dtype=f32,layout=tt", "--provider", "cpp_source", "--threads",
        "1", "--budget", "1s", "--processes", "2", "--output-dir"})
    words.emplace_back(word);
  words.push_back(folder);
  if (command != "race") {
    words.emplace_back("--kernels");
    words.push_back(candidate("good"));
  }
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class DeviceLockTest : public ::testing::Test {
 protected:
  Running hold() {
    Running holder = assay_.start(endless());
    EXPECT_TRUE(testing::wait_until(
        [&] { return testing::read_journal(assay_.file("holder")).count("kernel") >= 1; }));
    return holder;
  }
  // Until it has said that it waits.
  static bool says(const Running& running, const std::string& what) {
    return testing::wait_until(
        [&] { return running.errors_so_far().find(what) != std::string::npos; });
  }
  static int count(const std::string& text, std::string_view what) {
    int found = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
      ++found;
    return found;
  }
  AssayProgram assay_;
};

TEST_F(DeviceLockTest, EveryCommandThatMeasuresWaitsAndSaysForWhom) {
  Running holder = hold();
  const std::string who = fmt::format("process {} (", holder.pid());
  for (const char* command : {"sweep", "race", "run"}) {
    Running second = assay_.start(quick(command, "second", {"--json"}));
    ASSERT_TRUE(says(second, who)) << command;
    second.signal(SIGINT);
    const Finished finished = second.wait();
    EXPECT_EQ(finished.code(), 130) << command << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("since 20")) << command;
    EXPECT_THAT(finished.err, HasSubstr("nothing was begun")) << command;
    EXPECT_THAT(finished.out, HasSubstr("\"code\": \"interrupted\"")) << command;
    EXPECT_TRUE(second.leaves_nothing()) << command;
    EXPECT_FALSE(std::filesystem::exists(assay_.file("second"))) << command;

    const Finished refused = assay_.run(quick(command, "second", {"--no-wait"}));
    EXPECT_EQ(refused.code(), 5) << command << refused.err;
    EXPECT_THAT(refused.err, HasSubstr(who)) << command;
    EXPECT_FALSE(std::filesystem::exists(assay_.file("second"))) << command;
  }
  // What measures nothing does not wait; doctor leaves out what it would have to measure.
  const Finished doctor = assay_.run({"doctor"});
  EXPECT_EQ(doctor.code(), 0) << doctor.err;
  EXPECT_THAT(doctor.out, HasSubstr("not measured"));
}

TEST_F(DeviceLockTest, AKilledHolderLetsGoAndTheNextGoesOn) {
  Running holder = hold();
  Running second = assay_.start(quick("sweep", "second"));
  ASSERT_TRUE(says(second, fmt::format("process {} (", holder.pid())));
  Running third = assay_.start(quick("run", "third"));
  ASSERT_TRUE(says(third, "waiting"));
  holder.signal(SIGKILL);
  ASSERT_TRUE(says(third, "going on"));
  EXPECT_TRUE(std::filesystem::exists(assay_.file("second/record.json")))
      << "the third was served before the second had ended";
  const Finished finished = second.wait();
  EXPECT_EQ(finished.code(), 0) << finished.err;
  const Finished last = third.wait();
  EXPECT_EQ(last.code(), 0) << last.err;
  // In the order in which they came, and each with a line when it began to wait and one when it
  // was its turn.
  EXPECT_THAT(finished.err, HasSubstr("next in line"));
  EXPECT_THAT(last.err, HasSubstr("2 commands ahead"));
  for (const Finished* one : {&finished, &last}) {
    EXPECT_EQ(count(one->err, "waiting for"), 1) << one->err;
    EXPECT_EQ(count(one->err, "going on"), 1) << one->err;
  }
  EXPECT_TRUE(std::filesystem::exists(assay_.file("second/record.json")));
  EXPECT_TRUE(std::filesystem::exists(assay_.file("third/record.json")));
  EXPECT_TRUE(holder.leaves_nothing());
}

TEST_F(DeviceLockTest, WhatWouldFailAnywayFailsBeforeItWaits) {
  Running holder = hold();
  const Finished there = assay_.run(quick("sweep", "holder"));
  EXPECT_EQ(there.code(), 2) << there.err;
  EXPECT_THAT(there.err, HasSubstr("--fresh"));
  const Finished written = assay_.run(quick("sweep", "holder", {"--resume"}));
  EXPECT_EQ(written.code(), 5) << written.err;
  EXPECT_THAT(written.err, HasSubstr(fmt::to_string(holder.pid())));
}

}  // namespace
}  // namespace assay
