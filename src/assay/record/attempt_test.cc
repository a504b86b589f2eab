#include "assay/record/attempt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/json.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

AttemptRecord measured() {
  AttemptRecord record;
  record.id = "01ARYZ6S41TSV4RRFFQ69G5FAV";
  record.seq = 3;
  record.outcome = AttemptOutcome::keep;
  record.rules = AttemptRules{.metric = "decode.us",
                              .direction = "minimize",
                              .unit = "us",
                              .min_effect = 0.005,
                              .looks = {8, 16},
                              .false_keeps = 0.025 / 200,
                              .trim_fraction = 0.125};
  for (int i = 0; i < 8; ++i)
    record.pairs.push_back({.number = i,
                            .candidate_first = i % 2 == 0,
                            .log_ratios = {{"decode.us", 0.02 + 0.0001 * i}}});
  return record;
}

TEST(AttemptRecordTest, WhatIsWrittenIsReadAgainAndDecidesTheSame) {
  const AttemptRecord record = measured();
  const auto decision = decide_again(record);
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->word, stats::KeepWord::keep);
  const auto document = parse_json_document(dump_pretty(to_json(record)), "record.json");
  ASSERT_TRUE(document);
  const auto read = read_attempt_record(*document);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read), to_json(record));
  EXPECT_EQ(decide_again(*read)->word, stats::KeepWord::keep);
}

// A pair that others spoiled has no ratio: the reader must not take 8 pairs for what decided.
TEST(AttemptRecordTest, PairsThatDoNotCountAreSaid) {
  AttemptRecord record = measured();
  EXPECT_THAT(decide_again(record)->reason, Not(HasSubstr("do not count")));
  for (std::size_t i = 1; i < record.pairs.size(); ++i) record.pairs[i].log_ratios.clear();
  record.rules->budget_over = true;
  EXPECT_EQ(decide_again(record)->reason,
            "+2.02 % after 1 pair, too few for an interval, when the time was over, which is no "
            "proof of a gain; others were at work in 7 of 8 pairs, which do not count");
}

TEST(AttemptRecordTest, EveryRecordSaysWhetherSomebodyWasTold) {
  const Json json = to_json(AttemptRecord{});
  for (const char* key :
       {"webhook_enabled_by_config", "webhook_disabled_by_flag", "webhook_expected",
        "webhook_attempted", "webhook_sent", "webhook_status"})
    EXPECT_TRUE(json.contains(key)) << key;
}

TEST(AttemptRecordTest, OutcomesAreWords) {
  EXPECT_EQ(*parse_attempt_outcome("near_tie"), AttemptOutcome::near_tie);
  EXPECT_FALSE(parse_attempt_outcome("nearly"));
  EXPECT_FALSE(decide_again(AttemptRecord{}));
}

}  // namespace
}  // namespace assay
