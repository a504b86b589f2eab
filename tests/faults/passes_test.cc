// How a sweep's confirmations follow one another, by what its journal says.

#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "testing/assay_program.h"

namespace assay {
namespace {

using testing::AssayProgram;

class PassesTest : public ::testing::TestWithParam<int> {};

// With two threads, two processes are set up side by side.
TEST_P(PassesTest, EachProcessVisitsEveryProblemBeforeTheNextOne) {
  constexpr size_t kProcesses = 4;
  const AssayProgram assay;
  const auto finished =
      assay.run({"sweep", "--shape", "m=4|8|12,n=16,k=9,dtype=f32,layout=tt", "--provider",
                 "cpp_source", "--kernels", AssayProgram::source("tests/faults/candidates/good.cc"),
                 AssayProgram::source("tests/faults/candidates/steady.cc"), "--threads",
                 fmt::to_string(GetParam()), "--budget", "1s", "--processes",
                 fmt::to_string(kProcesses), "--output-dir", "run"});
  if (finished.code() == 2 && finished.err.find("physical core") != std::string::npos)
    GTEST_SKIP() << finished.err;
  ASSERT_EQ(finished.code(), 0) << finished.err;
  // The referee commits to a seed for each process: whose turn it is.
  std::vector<std::string> turns;
  std::set<std::string> raced;
  const auto journal = testing::read_journal(assay.file("run"));
  for (const Json& line : journal.lines) {
    const std::string kind = line.value("line", std::string());
    if (kind == "raced") raced.insert(line.at("problem").get<std::string>());
    if (kind == "problem") break;
    if (kind == "commit" && raced.size() == 3)
      turns.push_back(line.at("problem").get<std::string>());
  }
  ASSERT_EQ(raced.size(), 3u);
  // First the inputs that all processes' derive from, then pass by pass.
  ASSERT_GE(turns.size(), 3 * (kProcesses + 1));
  for (size_t pass = 0; pass <= kProcesses; ++pass) {
    const auto begin = turns.begin() + static_cast<std::ptrdiff_t>(3 * pass);
    EXPECT_EQ(std::set<std::string>(begin, begin + 3).size(), 3u) << "in pass " << pass;
  }
}

// Of one problem, several of its processes are set up at once.
TEST_P(PassesTest, OneProblemHasItsProcesses) {
  const AssayProgram assay;
  const auto finished = assay.run(
      {"sweep", "--shape", "m=4,n=16,k=9,dtype=f32,layout=tt", "--provider", "cpp_source",
       "--kernels", AssayProgram::source("tests/faults/candidates/good.cc"),
       AssayProgram::source("tests/faults/candidates/steady.cc"), "--threads",
       fmt::to_string(GetParam()), "--budget", "1s", "--processes", "5", "--output-dir", "run"});
  if (finished.code() == 2 && finished.err.find("physical core") != std::string::npos)
    GTEST_SKIP() << finished.err;
  ASSERT_EQ(finished.code(), 0) << finished.err;
  const auto record = load_record(assay.file("run/record.json"));
  ASSERT_TRUE(record) << record.error().message;
  const Confirmation* confirmation = record->problems.at(0).decisive();
  ASSERT_NE(confirmation, nullptr);
  ASSERT_EQ(confirmation->processes.size(), 5u);
  std::set<std::string> seeds;
  for (const ProcessSamples& process : confirmation->processes) {
    seeds.insert(process.seed);
    EXPECT_EQ(process.order.size(), static_cast<size_t>(confirmation->rounds));
  }
  EXPECT_EQ(seeds.size(), 5u) << "each has inputs of its own";
  EXPECT_EQ(assay.run({"compare", "--recompute", "run/record.json"}).code(), 0);
}

INSTANTIATE_TEST_SUITE_P(Threads, PassesTest, ::testing::Values(1, 2));

}  // namespace
}  // namespace assay
