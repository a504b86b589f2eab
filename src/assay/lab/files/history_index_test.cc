#include "assay/lab/files/history_index.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "assay/base/checked_line.h"
#include "assay/base/json.h"

namespace assay::lab {
namespace {

class HistoryIndexTest : public ::testing::Test {
 protected:
  HistoryIndexTest() : folder_(TemporaryDirectory::create().value()), runs_(folder_.path()) {}

  std::filesystem::path file() const { return runs_ / "history.jsonl"; }
  std::filesystem::path index() const { return runs_ / "index" / "it"; }

  // As many lines as are worth an index, without a flush each.
  void write_skips(int count) {
    std::string text;
    for (int i = 0; i < count; ++i)
      text += with_check(canonical({{"schema", kHistorySchema},
                                    {"type", "skip"},
                                    {"run_tag", "night"},
                                    {"reason", "turn " + std::to_string(i)},
                                    {"of", ""},
                                    {"at", ""}})) +
              '\n';
    ASSERT_TRUE(write_file_atomic(file().string(), text));
  }
  Attempt attempt(const std::string& id, int64_t seq) const {
    Attempt one;
    one.id = id;
    one.seq = seq;
    one.series = "series";
    one.env = {{"TOY", "1"}};
    one.outcome = AttemptOutcome::keep;
    one.primary = Primary{"run.us", 1.5, "us"};
    one.claim = Claim{"faster", 1.1, 1.05, 1.2, 8};
    one.cost = Cost{0.25, 100};
    one.stages = {{"confirm", "passed"}};
    return one;
  }

  TemporaryDirectory folder_;
  std::filesystem::path runs_;
};

TEST_F(HistoryIndexTest, WhatItCoversIsNotParsedAgainAndWhatFollowsIs) {
  write_skips(3000);
  {
    auto history = History::open(runs_);
    ASSERT_TRUE(history);
    const Attempt first = attempt("01ARYZ6S41TSV4RRFFQ69G5FAA", 1);
    ASSERT_TRUE(history->start(first));
    ASSERT_TRUE(history->end(first));
    // Its end comes behind what the index covers.
    ASSERT_TRUE(history->start(attempt("01ARYZ6S41TSV4RRFFQ69G5FAB", 2)));
  }
  ASSERT_TRUE(read_history(runs_, index()));
  const auto known = load_history_index(index(), file());
  ASSERT_TRUE(known);
  EXPECT_EQ(known->lines, 3003U);
  EXPECT_EQ(known->bytes, std::filesystem::file_size(file()));
  {
    auto history = History::open(runs_, index());
    ASSERT_TRUE(history);
    Attempt second = attempt("01ARYZ6S41TSV4RRFFQ69G5FAB", 2);
    second.outcome = AttemptOutcome::discard;
    ASSERT_TRUE(history->end(second));
  }
  const auto plain = read_history(runs_), indexed = read_history(runs_, index());
  ASSERT_TRUE(plain);
  ASSERT_TRUE(indexed);
  for (const HistoryContent& content : {*plain, *indexed}) {
    ASSERT_EQ(content.attempts.size(), 2U);
    EXPECT_EQ(content.skips.size(), 3000U);
    EXPECT_EQ(content.skips[2999].reason, "turn 2999");
    EXPECT_EQ(content.attempts[1].outcome, AttemptOutcome::discard);
    const Attempt& first = content.attempts[0];
    EXPECT_EQ(first.env.at("TOY"), "1");
    EXPECT_EQ(first.primary->unit, "us");
    EXPECT_EQ(first.claim->pairs, 8);
    EXPECT_EQ(first.stages.size(), 1U);
    EXPECT_EQ(content.cost_of("").tokens, 200);
  }
}

// An index of another past, or a damaged one, is as none; and hides no damage of the history.
TEST_F(HistoryIndexTest, ItHoldsForItsBytesAlone) {
  write_skips(2500);
  ASSERT_TRUE(read_history(runs_, index()));
  ASSERT_TRUE(load_history_index(index(), file()));
  std::string text = read_file(file().string()).value();
  const std::string before = text;
  text[text.find("turn 7")] = 'T';
  ASSERT_TRUE(write_file_atomic(file().string(), text));
  EXPECT_FALSE(load_history_index(index(), file()));
  const auto damaged = read_history(runs_, index());
  ASSERT_FALSE(damaged);
  EXPECT_NE(damaged.error().message.find(":8: the history is damaged"), std::string::npos);

  ASSERT_TRUE(write_file_atomic(file().string(), before));
  std::string stored = read_file(index().string()).value();
  stored[stored.size() / 2] ^= 1;
  ASSERT_TRUE(write_file_atomic(index().string(), stored));
  EXPECT_FALSE(load_history_index(index(), file()));
  const auto whole = read_history(runs_, index());
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->skips.size(), 2500U);
  EXPECT_TRUE(load_history_index(index(), file()));  // Made anew.
}

}  // namespace
}  // namespace assay::lab
