#include "assay/stats/verdict.h"

#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::stats {
namespace {

// Seven processes whose 99 % interval of log ratios is exactly low..high.
std::vector<ProcessMean> processes_with(double low, double high) {
  const double half = (high - low) / 2;
  // -3..3 have a standard deviation of sqrt(28 / 6); the interval reaches 3.70743 of its 7th
  // part's.
  const double step = half / (3.7074280 * std::sqrt(28.0 / 6) / std::sqrt(7.0));
  std::vector<ProcessMean> processes;
  for (int i = -3; i <= 3; ++i) {
    processes.push_back(
        {.log_ratio = (low + high) / 2 + i * step, .rounds = 40, .clean_rounds = 40});
  }
  return processes;
}

Word word_for(double low, double high, double margin = 0.01) {
  return judge(processes_with(low, high), {.margin = margin}).word;
}

TEST(VerdictTest, TheWordsAreThoseOfTheMethod) {
  const double l = std::log1p(0.01);
  EXPECT_EQ(word_for(l + 1e-4, 0.05), Word::faster);
  EXPECT_EQ(word_for(l - 1e-4, 0.05), Word::slightly_faster);
  EXPECT_EQ(word_for(1e-4, l / 2), Word::slightly_faster);
  EXPECT_EQ(word_for(-1e-4, l - 1e-4), Word::same);
  EXPECT_EQ(word_for(-l + 1e-4, 1e-4), Word::same);
  EXPECT_EQ(word_for(-1e-4, l + 1e-4), Word::unsure);
  EXPECT_EQ(word_for(-l - 1e-4, 1e-4), Word::unsure);
  EXPECT_EQ(word_for(-0.2, 0.2), Word::unsure);
  EXPECT_EQ(word_for(-0.05, -1e-4), Word::slightly_slower);
  EXPECT_EQ(word_for(-0.05, -l + 1e-4), Word::slightly_slower);
  EXPECT_EQ(word_for(-0.05, -l - 1e-4), Word::slower);
}

TEST(VerdictTest, TheMarginIsARatioNotItsLog) {
  const double between = (std::log1p(0.5) + 0.5) / 2;  // Above log 1.5, below 0.5.
  EXPECT_EQ(word_for(between, 1, 0.5), Word::faster);
  EXPECT_EQ(word_for(-1, -between, 0.5), Word::slower);
}

TEST(VerdictTest, NumbersAreRatios) {
  const Verdict verdict = judge(processes_with(std::log(1.02), std::log(1.08)));
  EXPECT_NEAR(verdict.low, 1.02, 1e-6);
  EXPECT_NEAR(verdict.high, 1.08, 1e-6);
  EXPECT_NEAR(verdict.ratio, std::sqrt(1.02 * 1.08), 1e-9);
  EXPECT_EQ(verdict.margin, 0.01);
  EXPECT_EQ(verdict.processes, 7);
  EXPECT_TRUE(verdict.has_interval());
  EXPECT_EQ(verdict.reason, "");
  // (t_99.5 + t_80) / t_99.5 times the half-width.
  EXPECT_NEAR(verdict.smallest_detectable,
              std::expm1(std::log(1.08 / 1.02) / 2 * (3.70743 + 0.90570) / 3.70743), 1e-6);
}

TEST(VerdictTest, FewProcessesAreUnsureWithTheReason) {
  auto processes = processes_with(0.2, 0.3);
  processes[0].log_ratio.reset();
  EXPECT_EQ(judge(processes).word, Word::faster);  // Six are enough.
  processes[1].log_ratio = std::nan("");
  const Verdict verdict = judge(processes);
  EXPECT_EQ(verdict.word, Word::unsure);
  EXPECT_EQ(verdict.processes, 5);
  EXPECT_FALSE(verdict.has_interval());
  EXPECT_EQ(verdict.low, 0);
  EXPECT_TRUE(std::isinf(verdict.high));
  EXPECT_TRUE(std::isinf(verdict.smallest_detectable));
  EXPECT_GT(verdict.ratio, 1.2);
  EXPECT_THAT(verdict.reason, testing::HasSubstr("5 of 7 processes gave a mean, 6 are needed"));
  EXPECT_EQ(judge({}).word, Word::unsure);
}

TEST(VerdictTest, WideIntervalsSayWhy) {
  const Verdict verdict = judge(processes_with(-0.2, 0.2));
  EXPECT_THAT(verdict.reason, testing::HasSubstr("beyond the margin of 1 %"));
}

TEST(VerdictTest, OptionsOutOfRangeAreUnsure) {
  const auto processes = processes_with(0.2, 0.3);
  for (const JudgeOptions& options :
       {JudgeOptions{.margin = 0}, JudgeOptions{.margin = -0.1},
        JudgeOptions{.margin = std::nan("")}, JudgeOptions{.confidence = 1},
        JudgeOptions{.confidence = std::nan("")}, JudgeOptions{.min_processes = 1},
        JudgeOptions{.systematic = -0.001}, JudgeOptions{.systematic = std::nan("")}}) {
    const Verdict verdict = judge(processes, options);
    EXPECT_EQ(verdict.word, Word::unsure);
    EXPECT_NE(verdict.reason, "");
  }
}

TEST(VerdictTest, WhatAllProcessesShareWidensTheInterval) {
  const auto processes = processes_with(0.012, 0.02);
  const Verdict plain = judge(processes), wide = judge(processes, {.systematic = 0.002});
  EXPECT_EQ(wide.word, Word::slightly_faster);
  EXPECT_EQ(wide.ratio, plain.ratio);
  const auto half = [](const Verdict& verdict) { return std::log(verdict.high / verdict.low) / 2; };
  EXPECT_NEAR(half(wide), std::hypot(half(plain), 2.57583 * 0.002), 1e-6);
  EXPECT_GT(wide.smallest_detectable, plain.smallest_detectable);
}

TEST(VerdictTest, MoreConfidenceNeverStrengthensAWord) {
  const auto processes = processes_with(0.012, 0.02);
  EXPECT_EQ(judge(processes).word, Word::faster);
  EXPECT_EQ(judge(processes, {.confidence = 0.9999}).word, Word::slightly_faster);
}

TEST(VerdictTest, WordsSurviveTheirText) {
  for (const Word word : {Word::faster, Word::slightly_faster, Word::same, Word::slightly_slower,
                          Word::slower, Word::unsure}) {
    const auto parsed = parse_word(to_string(word));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, word);
  }
  EXPECT_EQ(to_string(Word::slightly_faster), "slightly faster");
  const auto wrong = parse_word("quicker");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::invalid_input);
  EXPECT_THAT(wrong.error().message, testing::HasSubstr("'quicker' is no verdict"));
}

TEST(VerdictTest, AgainstTheBestStockTheWeakestWordHolds) {
  const Verdict faster = judge(processes_with(0.03, 0.05));
  const Verdict barely_faster = judge(processes_with(0.02, 0.05));
  const Verdict same = judge(processes_with(-0.001, 0.001));
  const Verdict unsure = judge(processes_with(-0.1, 0.1));
  const Verdict slower = judge(processes_with(-0.1, -0.05));
  EXPECT_EQ(weakest(std::vector{faster, same, faster}).word, Word::same);
  EXPECT_EQ(weakest(std::vector{faster, unsure, same}).word, Word::unsure);
  EXPECT_EQ(weakest(std::vector{unsure, slower, faster}).word, Word::slower);
  EXPECT_EQ(weakest(std::vector{faster, barely_faster}).low, barely_faster.low);
  EXPECT_EQ(weakest(std::vector<Verdict>{}).word, Word::unsure);
  EXPECT_NE(weakest(std::vector<Verdict>{}).reason, "");
  EXPECT_EQ(weakest(Word::slightly_faster, Word::faster), Word::slightly_faster);
  EXPECT_EQ(weakest(Word::unsure, Word::slightly_slower), Word::slightly_slower);
}

}  // namespace
}  // namespace assay::stats
