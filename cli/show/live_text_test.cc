#include "cli/show/live_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/text.h"
#include "assay/report/width.h"

namespace assay::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

LiveState state() {
  LiveState state;
  state.title = "assay sweep  decode";
  state.machine = "A CPU with a rather long name, 1 thread";
  state.condition = "weights cold, back to back, plain";
  state.problems = 36;
  state.done = 15;
  state.progress = 15.5 / 36;
  state.elapsed = 41;
  state.left = 58;
  state.shape = "m4_up";
  state.stage = "race, round 9";
  state.flops = 2e6;
  state.bytes = 1e6;
  state.roof = {"read", 50e9, 1e6 / 50e9};
  state.standings = {{"ours/leader", KernelRole::ours, 56.5, 1, 0, 0},
                     {"ours/second", KernelRole::ours, 56.9, 1 / 1.007, 0.002, 0},
                     {"blas/best", KernelRole::stock, 57.9, 1 / 1.025, 0.002, 0},
                     {"blas/dropped", KernelRole::stock, 58.9, 1 / 1.042, 0.002, 8},
                     {"mine/far", KernelRole::user, 100, 0.5, 0.002, 0}};
  state.refused = 1804;
  state.wrong = 1;
  return state;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n')) lines.emplace_back(line);
  lines.pop_back();  // After the last newline.
  return lines;
}

TEST(LiveTextTest, ShowsWhereTheRunStandsAndWhoLeads) {
  const std::string text = live_text(state(), 80, 24);
  EXPECT_THAT(text, HasSubstr("15/36 shapes   0:41, 0:58 left"));
  EXPECT_THAT(text, HasSubstr("race, round 9"));
  EXPECT_THAT(text, HasSubstr("4 of 5 kernels still running"));
  EXPECT_THAT(text, HasSubstr("refused 1,804   wrong 1   crashed 0"));
}

TEST(LiveTextTest, KernelsStandUnderWhatTheyAreWithRateAndShareOfTheCeiling) {
  const auto lines = lines_of(live_text(state(), 80, 24));
  const std::vector<std::string> rows(lines.begin() + 4, lines.begin() + 10);
  EXPECT_THAT(rows[0], ContainsRegex("role +kernel +us +rate +of read +behind"));
  EXPECT_THAT(rows[1], ContainsRegex("leader +ours/leader +56.5 +17.7 GB/s +35 %"));
  EXPECT_THAT(rows[2], ContainsRegex("stock +blas/best +57.9 +17.3 GB/s +35 % +\\+2.5 %"));
  EXPECT_THAT(rows[3], ContainsRegex("yours +mine/far +100 +10.0 GB/s +20 % +2.0 x"));
  EXPECT_THAT(rows[4], ContainsRegex("^ +ours/second .* \\+0.7 %"));
  EXPECT_THAT(rows[5], ContainsRegex("^ +blas/dropped .* \\+4.2 % out"));
}

TEST(LiveTextTest, WithoutACeilingRatesStand) {
  LiveState unknown = state();
  unknown.roof = {};
  const std::string text = live_text(unknown, 80, 24);
  EXPECT_THAT(text, HasSubstr("35.4 GFLOP/s"));
  EXPECT_THAT(text, Not(HasSubstr(" of ceiling")));
}

TEST(LiveTextTest, OfManyKernelsTheUsersAndTheBestStockOneAreShown) {
  LiveState many = state();
  const KernelRole roles[] = {KernelRole::ours, KernelRole::user};
  for (int i = 0; i < 50; ++i)
    many.standings.insert(many.standings.begin() + 1,
                          {"other/more", roles[i % 2], 60, 0.9, 0.01, 0});
  const std::string text = live_text(many, 80, 24);
  EXPECT_THAT(text, HasSubstr("blas/best"));
  EXPECT_THAT(text, HasSubstr("yours"));
  EXPECT_THAT(text, HasSubstr("more"));
}

TEST(LiveTextTest, EveryLineFitsTheTerminal) {
  for (const int width : {40, 80, 160}) {
    for (const int height : {6, 24}) {
      const auto lines = lines_of(live_text(state(), width, height));
      EXPECT_LT(lines.size(), static_cast<size_t>(height));
      for (const std::string& line : lines) EXPECT_LE(report::display_width(line), width) << line;
    }
  }
}

TEST(LiveTextTest, AFewRowsShowTheBestAndCountTheRest) {
  LiveState many = state();
  for (int i = 0; i < 50; ++i)
    many.standings.push_back({"mine/more", KernelRole::user, 60, 0.9, 0.01, 0});
  EXPECT_THAT(live_text(many, 80, 16), HasSubstr("more"));
}

TEST(LiveTextTest, NamesFromOutsideCannotDriveTheTerminal) {
  LiveState hostile = state();
  hostile.standings[1].label = "mine/\033[2J\nx";
  hostile.last_fall = "mine/\033]0;title\a: crashed";
  const std::string text = live_text(hostile, 80, 24);
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_EQ(text.find('\a'), std::string::npos);
}

TEST(IntervalTextTest, DrawsWhereTheIntervalLies) {
  EXPECT_EQ(interval_text(0.25, 0.5, 0.75, 0, 1, 9), "  |-o-|");
  EXPECT_EQ(interval_text(-1, 0, 2, 0, 1, 5), "o---|");
  EXPECT_EQ(interval_text(5, 6, 7, 0, 1, 5), "    >");
}

TEST(BarTextTest, IsFullAtTheEndAndEmptyAtTheBegin) {
  EXPECT_EQ(bar_text(0, 12), "[----------]");
  EXPECT_EQ(bar_text(0.5, 12), "[====>-----]");
  EXPECT_EQ(bar_text(1, 12), "[==========]");
}

TEST(ClockTextTest, CountsHoursOnlyWhereThereAreSome) {
  EXPECT_EQ(clock_text(41), "0:41");
  EXPECT_EQ(clock_text(3723), "1:02:03");
}

}  // namespace
}  // namespace assay::cli
