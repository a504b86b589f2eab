#include "cli/help/help.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/text.h"
#include "assay/input/suite.h"
#include "assay/report/width.h"
#include "cli/flags/command_line.h"

namespace assay::cli {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const CommandEntry& program() {
  static const CommandLine line;
  static const CommandEntry entry = describe(line);
  return entry;
}

const CommandEntry& race() {
  static const std::vector<std::string> path = {"race"};
  return **find_command(program(), path);
}

int widest(const std::string& text) {
  int width = 0;
  for (const std::string_view line : split(text, '\n')) {
    // A command line is not broken: it is there to be copied.
    if (!line.starts_with("  assay ")) width = std::max(width, report::display_width(line));
  }
  return width;
}

TEST(HelpTest, EveryPageFitsTheTerminal) {
  for (const int width : {80, 160}) {
    EXPECT_LE(widest(program_help(program(), width)), width);
    for (const CommandEntry& command : program().commands)
      EXPECT_LE(widest(command_help(program(), command, width)), width) << command.path;
  }
  EXPECT_GT(widest(command_help(program(), race(), 160)), 80) << "room is used where it is";
}

TEST(HelpTest, FlagsStandUnderHeadingsInOneOrder) {
  const std::string text = command_help(program(), race(), 80);
  size_t before = 0;
  for (const char* heading :
       {"\nArguments\n", "\nProblem\n", "\nKernels\n", "\nMeasuring\n", "\nOutput\n", "\nMore\n"}) {
    const size_t at = text.find(heading);
    ASSERT_NE(at, std::string::npos) << heading;
    EXPECT_GT(at, before);
    before = at;
  }
}

TEST(HelpTest, EveryFlagIsShownOnceWithItsDefault) {
  for (const CommandEntry& command : program().commands) {
    const std::string text = command_help(program(), command, 100);
    for (const FlagEntry& flag : command.flags) {
      const std::string head = "\n  " + flag.names.front();
      const size_t first = text.find(head);
      if (flag.names.front() == "--help") continue;
      EXPECT_NE(first, std::string::npos) << command.path << head;
    }
  }
  EXPECT_THAT(command_help(program(), race(), 200), HasSubstr("(default: 1%)"));
}

TEST(HelpTest, SuitesAreListed) {
  std::vector<std::string> names;
  for (const auto& suite : input::embedded_suites()) names.emplace_back(suite.name);
  EXPECT_THAT(names, Contains("transformer_cpu"));
  EXPECT_THAT(command_help(program(), race(), 200), HasSubstr("(" + join(names, ", ") + ")"));
}

}  // namespace
}  // namespace assay::cli
