// What an end in the middle leaves: by kill -9, by Ctrl-C, by a second sweep, by a damaged journal.

#include <fcntl.h>
#include <map>
#include <random>
#include <set>
#include <signal.h>
#include <string>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "assay/base/file.h"
#include "testing/assay_program.h"

namespace assay {
namespace {

using testing::AssayProgram;
using testing::Finished;
using ::testing::HasSubstr;
using testing::Running;

std::vector<std::string> sweep(const std::vector<std::string>& more = {},
                               const std::vector<std::string>& kernels = {"good", "steady",
                                                                          "wrong_tail"}) {
  std::vector<std::string> words = {"sweep",
                                    "--shape",
                                    "m=8,n=16,k=9,dtype=f32,layout=tt",
                                    "--shape",
                                    "m=5,n=24,k=17,dtype=f32,layout=tt",
                                    "--provider",
                                    "cpp_source",
                                    "--threads",
                                    "1",
                                    "--budget",
                                    "1s",
                                    "--processes",
                                    "3",
                                    "--output-dir",
                                    "run"};
  words.insert(words.end(), more.begin(), more.end());
  words.emplace_back("--kernels");
  for (const std::string& kernel : kernels)
    words.push_back(AssayProgram::source("tests/faults/candidates/" + kernel + ".cc"));
  return words;
}

std::string journal_path(const AssayProgram& assay) { return assay.file("run/journal.jsonl"); }

// Every line whole and JSON, nothing finished twice, both problems done, and a record that says so.
void expect_complete(const AssayProgram& assay) {
  const auto journal = testing::read_journal(assay.file("run"));
  EXPECT_FALSE(journal.torn);
  std::map<std::string, int> finished;
  for (const Json& line : journal.lines) {
    ASSERT_FALSE(line.is_discarded());
    const std::string kind = line.value("line", std::string());
    if (kind == "kernel")
      ++finished[line.at("problem").get<std::string>() + " " + line.at("id").get<std::string>()];
    if (kind == "raced") ++finished["race " + line.at("problem").get<std::string>()];
    if (kind == "problem") ++finished[line.at("record").at("name").get<std::string>()];
  }
  EXPECT_EQ(finished.size(), 10u);  // Two problems of three kernels each, a race of each.
  for (const auto& [stage, times] : finished) EXPECT_EQ(times, 1) << stage;

  const auto record = load_record(assay.file("run/record.json"));
  ASSERT_TRUE(record) << record.error().message;
  ASSERT_EQ(record->problems.size(), 2u);
  for (const ProblemRecord& problem : record->problems) {
    ASSERT_NE(problem.winner(), nullptr) << problem.no_winner;
    // Of three processes, on a machine that may be busy: which right one is not asked here.
    EXPECT_THAT(problem.winner()->name, ::testing::AnyOf("good", "steady"));
    EXPECT_EQ(ending_name(testing::find_kernel(problem, "wrong_tail")->ending), "mismatch");
  }
}

TEST(InterruptionTest, KilledAtAnyMomentItGoesOnWhereItStopped) {
  const AssayProgram assay;
  std::mt19937 random(20240611);
  int lines = 0;
  for (int kill = 0; kill < 5; ++kill) {
    // Some one to six lines further on, whatever stage that is in.
    const int until = lines + 1 + static_cast<int>(random() % 6);
    Running running = assay.start(sweep({"--resume"}));
    ASSERT_TRUE(testing::wait_until([&] {
      return testing::journal_lines(assay.file("run")) >= until ||
             testing::read_journal(assay.file("run")).count("problem") == 2;
    }));
    running.signal(SIGKILL);
    running.wait();
    EXPECT_TRUE(running.leaves_nothing()) << "after " << until << " lines";
    lines = testing::journal_lines(assay.file("run"));
    if (testing::read_journal(assay.file("run")).count("problem") == 2) break;
  }
  Running last = assay.start(sweep({"--resume"}));
  const Finished finished = last.wait();
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_TRUE(last.leaves_nothing());
  expect_complete(assay);
}

TEST(InterruptionTest, ATornLastLineIsCutOffAndSaid) {
  const AssayProgram assay;
  {
    Running running = assay.start(sweep());
    ASSERT_TRUE(testing::wait_until(
        [&] { return testing::read_journal(assay.file("run")).count("raced") == 2; }));
    running.signal(SIGKILL);
    running.wait();
  }
  const int lines = testing::journal_lines(assay.file("run"));
  const auto whole = read_file(journal_path(assay));
  ASSERT_TRUE(whole);
  ASSERT_TRUE(
      write_file_atomic(journal_path(assay), *whole + R"({"line":"kernel","problem":"gem)"));
  const Finished finished = assay.run(sweep({"--resume"}));
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_THAT(finished.err,
              HasSubstr(fmt::format("journal.jsonl:{}: cut off a torn last line", lines + 1)));
  expect_complete(assay);
}

TEST(InterruptionTest, DamagedOrForeignJournalsAreRefusedUntouched) {
  const AssayProgram assay;
  ASSERT_EQ(assay.run(sweep()).code(), 0);
  const auto whole = read_file(journal_path(assay));
  ASSERT_TRUE(whole);

  // Without a word on what to do with it.
  Finished finished = assay.run(sweep());
  EXPECT_EQ(finished.code(), 2);
  EXPECT_THAT(finished.err, HasSubstr("--resume"));
  EXPECT_THAT(finished.err, HasSubstr("--fresh"));
  EXPECT_EQ(read_file(journal_path(assay)).value_or(""), *whole);

  // Asked for something else.
  finished = assay.run(sweep({"--resume", "--margin", "2%"}));
  EXPECT_EQ(finished.code(), 2);
  EXPECT_THAT(finished.err, HasSubstr("margin"));
  EXPECT_EQ(read_file(journal_path(assay)).value_or(""), *whole);

  // A kernel that was edited since is another one.
  finished = assay.run(sweep({"--resume"}, {"good", "steady", "wavers"}));
  EXPECT_EQ(finished.code(), 2);
  EXPECT_THAT(finished.err, HasSubstr("kernels"));
  EXPECT_EQ(read_file(journal_path(assay)).value_or(""), *whole);

  // Damaged where no crash damages.
  std::string damaged = *whole;
  const size_t third = damaged.find('\n', damaged.find('\n') + 1) + 1;
  damaged[third] = '#';
  ASSERT_TRUE(write_file_atomic(journal_path(assay), damaged));
  finished = assay.run(sweep({"--resume"}));
  EXPECT_EQ(finished.code(), 5);
  EXPECT_THAT(finished.err, HasSubstr("journal.jsonl:3"));
  EXPECT_EQ(read_file(journal_path(assay)).value_or(""), damaged);

  // --fresh moves it aside, whatever it is.
  finished = assay.run(sweep({"--fresh"}));
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_EQ(read_file(assay.file("run.old1/journal.jsonl")).value_or(""), damaged);
  expect_complete(assay);
}

TEST(InterruptionTest, AFinishedRunIsShownAgainWithoutWork) {
  const AssayProgram assay;
  ASSERT_EQ(assay.run(sweep()).code(), 0);
  const auto whole = read_file(journal_path(assay));
  ASSERT_TRUE(whole);
  const Finished finished = assay.run(sweep({"--resume"}));
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_EQ(read_file(journal_path(assay)).value_or(""), *whole);
}

TEST(InterruptionTest, WhoHoldsAFolderIsSaid) {
  const AssayProgram assay;
  Running holder = assay.start(sweep({"--timeout", "600s"}, {"good", "loops"}));
  ASSERT_TRUE(testing::wait_until([&] { return testing::journal_lines(assay.file("run")) >= 3; }));
  for (const char* how : {"--resume", "--fresh"}) {
    const Finished second = assay.run(sweep({"--timeout", "600s", how}, {"good", "loops"}));
    EXPECT_EQ(second.code(), 5) << how << second.err;
    EXPECT_THAT(second.err, HasSubstr(fmt::to_string(holder.pid()))) << how;
  }
  EXPECT_FALSE(std::filesystem::exists(assay.file("run.old1")));
}

TEST(InterruptionTest, CtrlCLeavesAJournalToGoOnWithAndNoProcess) {
  const AssayProgram assay;
  Running running =
      assay.start(sweep({"--timeout", "600s"}, {"good", "steady", "wrong_tail", "loops"}));
  // It sits in the loop of the last kernel, with the three before it in the journal.
  ASSERT_TRUE(testing::wait_until(
      [&] { return testing::read_journal(assay.file("run")).count("kernel") == 3; }));
  running.signal(SIGINT);
  const Finished finished = running.wait();
  EXPECT_EQ(finished.code(), 130) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("--resume"));
  EXPECT_TRUE(running.leaves_nothing());
  const auto journal = testing::read_journal(assay.file("run"));
  EXPECT_FALSE(journal.torn);
  EXPECT_EQ(journal.count("kernel"), 3);

  const Finished resumed =
      assay.run(sweep({"--timeout", "1s", "--resume"}, {"good", "steady", "wrong_tail", "loops"}));
  EXPECT_EQ(resumed.code(), 0) << resumed.err;
  const auto record = load_record(assay.file("run/record.json"));
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(ending_name(testing::find_kernel(record->problems.at(0), "loops")->ending), "timeout");
  // On the second problem it is not tried again.
  const KernelOutcome* quarantined = testing::find_kernel(record->problems.at(1), "loops");
  EXPECT_EQ(ending_name(quarantined->ending), "not_reached");
  EXPECT_THAT(ending_sentence(quarantined->ending), HasSubstr("quarantine"));
  EXPECT_EQ(testing::read_journal(assay.file("run")).count("kernel"), 7);
}

}  // namespace
}  // namespace assay
