// The case that ships with its history: every attempt of it can be read, judged and made again.

#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "assay/base/file.h"
#include "assay/base/json.h"
#include "testing/assay_program.h"

namespace assay::lab_tests {
namespace {

namespace fs = std::filesystem;
using testing::AssayProgram;
using ::testing::HasSubstr;

constexpr const char* kCase = "cases/demo/cpu_decode_gemm";

class DemoCase : public ::testing::Test {
 protected:
  DemoCase() {
    const fs::path source = ASSAY_SOURCE_FOLDER;
    fs::copy_file(source / "lab.yaml", program_.file("lab.yaml"));
    fs::create_directories(fs::path(program_.file(kCase)).parent_path());
    fs::copy(source / kCase, program_.file(kCase), fs::copy_options::recursive);
  }
  testing::Finished lab(std::vector<std::string> words) const {
    words.insert(words.begin(), "lab");
    words.insert(words.end(), {"--case", kCase});
    return program_.run(std::move(words));
  }
  // Longer than the watchdog when other tests are at work beside it.
  testing::Finished replay(const std::string& id) const {
    testing::Running running = program_.start({"lab", "replay", id, "--case", kCase});
    testing::Finished finished = running.wait();
    for (int again = 0; again < 4 && finished.status.running(); ++again) finished = running.wait();
    return finished;
  }
  std::string lines() const {
    return read_file(program_.file(std::string(kCase) + "/runs/history.jsonl")).value_or("");
  }
  Json history() const {
    const auto finished = lab({"history", "--last", "0", "--json"});
    EXPECT_EQ(finished.code(), 0) << finished.err;
    return Json::parse(finished.out)["attempts"];
  }
  AssayProgram program_;
};

TEST_F(DemoCase, HoldsEachOutcomeThatItsReadmeNames) {
  const Json attempts = history();
  EXPECT_GE(attempts.size(), 16u);  // The baseline, and 15 behind it.
  std::set<std::string> outcomes;
  for (const Json& attempt : attempts) outcomes.insert(attempt.value("state", std::string()));
  for (const char* outcome : {"keep", "near_tie", "discard", "crash", "parity_failed"})
    EXPECT_TRUE(outcomes.contains(outcome)) << outcome;
  const auto lines = read_file(program_.file(std::string(kCase) + "/runs/history.jsonl"));
  EXPECT_THAT(*lines, HasSubstr("duplicate_of"));
}

TEST_F(DemoCase, ItsVerdictsFollowFromItsPairs) {
  for (const auto& entry : fs::recursive_directory_iterator(program_.file(kCase) + "/runs")) {
    if (entry.path().filename() != "record.json") continue;
    const auto finished = program_.run({"compare", "--recompute", entry.path().string()});
    EXPECT_EQ(finished.code(), 0) << entry.path() << '\n' << finished.out << finished.err;
  }
}

TEST_F(DemoCase, EachAttemptCanBeMadeAgain) {
  for (const Json& attempt : history()) {
    const std::string number = std::to_string(attempt["seq"].get<int>());
    const auto finished = lab({"diff", number});
    EXPECT_EQ(finished.code(), 0) << number << '\n' << finished.err;
  }
}

TEST_F(DemoCase, ItsPlotIsThatOfItsHistory) {
  const auto finished = lab({"plot", "--output", program_.file("plot.svg")});
  ASSERT_EQ(finished.code(), 0) << finished.err;
  EXPECT_EQ(*read_file(program_.file("plot.svg")),
            *read_file(program_.file(std::string(kCase) + "/plot.svg")));
}

TEST_F(DemoCase, WhatWasRefusedIsRefusedAgain) {
  const std::string before = lines();
  for (const auto& [id, outcome] : {std::pair("5", "crash"), std::pair("18", "parity_failed")}) {
    const auto finished = replay(id);
    EXPECT_EQ(finished.code(), 0) << finished.out << finished.err;
    EXPECT_THAT(testing::unbroken(finished.out),
                HasSubstr(fmt::format("attempt {} held: it was {}, and now it is {}", id, outcome,
                                      outcome)));
  }
  EXPECT_EQ(lines(), before);
}

// Another machine, or a busy one, may not be able to tell; it must say so, by a record that holds.
TEST_F(DemoCase, WhatWasKeptIsMeasuredAgain) {
  const std::string before = lines();
  const auto finished = replay("9");
  const std::string said = testing::unbroken(finished.out);
  const bool held = said.find("attempt 9 held: it was keep, and now it is keep") != said.npos;
  EXPECT_TRUE(held || said.find("attempt 9 unsure: it was keep") != said.npos)
      << finished.out << finished.err;
  EXPECT_EQ(finished.code(), held ? 0 : 1);
  EXPECT_EQ(lines(), before);
  int records = 0;
  const fs::path replays = program_.file(std::string(kCase) + "/runs/replays");
  for (const auto& entry : fs::recursive_directory_iterator(replays)) {
    // Those of its races are of another kind.
    if (entry.path().filename() != "record.json" ||
        entry.path().parent_path().parent_path() != replays)
      continue;
    ++records;
    EXPECT_EQ(program_.run({"compare", "--recompute", entry.path().string()}).code(), 0);
  }
  EXPECT_EQ(records, 1);
}

TEST_F(DemoCase, WhatWasTriedIsNotMeasuredAgain) {
  ASSERT_EQ(lab({"apply", "4"}).code(), 0);
  const std::string before = lines();
  const auto finished = lab({"eval", "--description", "four columns, once more"});
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_THAT(testing::unbroken(finished.err), HasSubstr("attempt 4 was the same"));
  ASSERT_TRUE(lines().starts_with(before));
  EXPECT_THAT(lines().substr(before.size()), HasSubstr("duplicate_of 4"));
}

}  // namespace
}  // namespace assay::lab_tests
