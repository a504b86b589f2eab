#include "assay/lab/files/history.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/text.h"

namespace assay::lab {
namespace {

using ::testing::HasSubstr;

class HistoryTest : public ::testing::Test {
 protected:
  std::filesystem::path runs() const { return folder_.path(); }
  std::string text() const { return *read_file(folder_.path() + "/history.jsonl"); }

  static Attempt attempt(int64_t seq, const std::string& series = "s") {
    Attempt one;
    one.id = fmt::format("01ARYZ6S41TSV4RRFFQ69G5F{:02}", seq);
    one.seq = seq;
    one.run_tag = "tag";
    one.series = series;
    one.tree = fmt::format("tree{}", seq);
    one.description = "a line, \"quoted\"";
    one.env = {{"MY_THREADS", "2"}};
    one.started = "2025-01-31T00:00:00Z";
    return one;
  }

  static Attempt ended(Attempt one, AttemptOutcome outcome) {
    one.outcome = outcome;
    one.reason = "why";
    one.ended = "2025-01-31T00:01:00Z";
    one.record = "tag/0001/record.json";
    one.stages = {{"build", "passed"}};
    one.primary = Primary{"decode.us", 12.5, "us"};
    one.claim = Claim{"faster", 1.02, 1.01, 1.03, 16};
    return one;
  }

  void add(int64_t seq, AttemptOutcome outcome, bool env_only = false) {
    auto history = History::open(runs());
    ASSERT_TRUE(history) << history.error().message;
    Attempt one = attempt(seq);
    one.env_only = env_only;
    ASSERT_TRUE(history->start(one));
    ASSERT_TRUE(history->end(ended(one, outcome)));
  }

  TemporaryDirectory folder_ = *TemporaryDirectory::create();
};

TEST_F(HistoryTest, WhatWasWrittenIsReadAgain) {
  add(1, AttemptOutcome::keep);
  const auto content = read_history(runs());
  ASSERT_TRUE(content) << content.error().message;
  ASSERT_EQ(content->attempts.size(), 1u);
  const Attempt& read = content->attempts[0];
  EXPECT_EQ(read.description, "a line, \"quoted\"");
  EXPECT_EQ(read.env.at("MY_THREADS"), "2");
  EXPECT_EQ(read.outcome, AttemptOutcome::keep);
  EXPECT_EQ(read.primary->value, 12.5);
  EXPECT_EQ(read.claim->pairs, 16);
  EXPECT_EQ(read.stages[0].second, "passed");
  EXPECT_EQ(content->next_seq(), 2);
}

TEST_F(HistoryTest, TheIncumbentIsTheLastKeepThatChangedMoreThanTheEnvironment) {
  add(1, AttemptOutcome::keep);
  add(2, AttemptOutcome::keep);
  add(3, AttemptOutcome::discard);
  add(4, AttemptOutcome::keep, true);
  const auto content = read_history(runs());
  ASSERT_TRUE(content);
  ASSERT_NE(content->incumbent("s"), nullptr);
  EXPECT_EQ(content->incumbent("s")->seq, 2);
  EXPECT_EQ(content->incumbent("another series"), nullptr);
  EXPECT_EQ(content->find("3")->seq, 3);
  EXPECT_EQ(content->find("01ARYZ"), nullptr);  // Of several.
}

// A crash may leave any part of the last line: every such file opens, and loses nothing else.
TEST_F(HistoryTest, ACrashAtAnyByteOfALineLosesThatLineAlone) {
  add(1, AttemptOutcome::keep);
  add(2, AttemptOutcome::discard);
  const std::string whole = text();
  const std::size_t last = whole.rfind('\n', whole.size() - 2) + 1;
  for (std::size_t size = last; size < whole.size(); ++size) {
    std::ofstream(folder_.path() + "/history.jsonl") << whole.substr(0, size);
    const auto history = History::open(runs());
    ASSERT_TRUE(history) << history.error().message;
    ASSERT_EQ(history->content().attempts.size(), 2u);
    EXPECT_FALSE(history->content().attempts[1].outcome);
    EXPECT_EQ(history->notes().empty(), size == last);
    EXPECT_EQ(text(), whole.substr(0, last));
  }
}

TEST_F(HistoryTest, AnyOtherDamageIsSaidAndLeftAlone) {
  add(1, AttemptOutcome::keep);
  add(2, AttemptOutcome::discard);
  const std::string whole = text();
  for (std::size_t at = 0; at + 1 < whole.size(); at += 7) {
    std::string damaged = whole;
    damaged[at] = damaged[at] == 'x' ? 'y' : 'x';
    std::ofstream(folder_.path() + "/history.jsonl") << damaged;
    const auto history = History::open(runs());
    ASSERT_FALSE(history) << at;
    EXPECT_EQ(history.error().code, ErrorCode::machine);
    EXPECT_THAT(history.error().message, HasSubstr("history.jsonl:"));
    EXPECT_EQ(text(), damaged);
  }
}

TEST_F(HistoryTest, OneAtATimeAddsToIt) {
  const auto first = History::open(runs());
  ASSERT_TRUE(first);
  const auto second = History::open(runs());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::busy);
}

TEST_F(HistoryTest, LinesStayShort) {
  auto history = History::open(runs());
  ASSERT_TRUE(history);
  Attempt one = attempt(1);
  one.description = std::string(200, '"');
  one.hypothesis = std::string(300, '\\');
  ASSERT_TRUE(history->start(one));
  one = ended(one, AttemptOutcome::crash);
  one.reason = std::string(5000, '"');
  ASSERT_TRUE(history->end(one));
  for (const std::string_view line : split(text(), '\n')) EXPECT_LE(line.size(), kMostLineBytes);
  one = attempt(2);
  one.env["MY_LONG"] = std::string(1000, 'x');
  EXPECT_FALSE(history->start(one));
}

}  // namespace
}  // namespace assay::lab
