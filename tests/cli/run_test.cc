// Each *.test of this folder is a test.

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/cli/script.h"

namespace assay::cli_tests {
namespace {

std::vector<std::string> scripts() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(ASSAY_CLI_SCRIPTS))
    if (entry.path().extension() == ".test") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

class CliTest : public ::testing::TestWithParam<std::string> {};

TEST_P(CliTest, SaysAndDoesWhatTheScriptSays) {
  const char* program = std::getenv("ASSAY_BINARY");
  ASSERT_NE(program, nullptr) << "ctest sets ASSAY_BINARY";
  const auto script = read_script(GetParam());
  ASSERT_TRUE(script.has_value()) << script.error().message;
  ASSERT_FALSE(script->steps.empty());
  for (const std::string& failure : run_script(*script, program)) ADD_FAILURE() << failure;
}

std::string name_of(const ::testing::TestParamInfo<std::string>& script) {
  std::string name = std::filesystem::path(script.param).stem().string();
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Scripts, CliTest, ::testing::ValuesIn(scripts()), name_of);

TEST(PatternTest, StarsStandForAnythingAndSpacesForAnySpace) {
  EXPECT_TRUE(holds("verdict   slower than\n   the best: 0.95 x", "slower than the best: * x"));
  EXPECT_FALSE(holds("a b", "b*a"));
  EXPECT_FALSE(holds("slower", "faster"));
}

}  // namespace
}  // namespace assay::cli_tests
