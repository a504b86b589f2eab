// The case that ships with its history: every attempt of it can be read, judged and made again.

#include <set>

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
  EXPECT_THAT(*lines, ::testing::HasSubstr("duplicate_of"));
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

}  // namespace
}  // namespace assay::lab_tests
