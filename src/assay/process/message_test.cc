#include "assay/process/message.h"

#include <cmath>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/process/messages.h"

namespace assay::process {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Answers blocks, and refuses to prove.
struct Handler {
  Result<RunBlock::Answer> answer(const RunBlock& asked) {
    return RunBlock::Answer{static_cast<int64_t>(asked.seconds * 1e9), asked.handle + 1};
  }
  Result<LookAtInputs::Answer> answer(const LookAtInputs&) {
    return fail(ErrorCode::device_lost, "it is gone");
  }
};
using Taken = Requests<RunBlock, LookAtInputs>;

// Of what a server answers to one frame.
class Served : public ::testing::Test {
 protected:
  void SetUp() override {
    auto pair = MessageChannel::create_pair();
    ASSERT_TRUE(pair);
    ours_.emplace(std::move(pair->first));
    server_ = std::thread([theirs = MessageChannel(std::move(pair->second))]() mutable {
      Handler handler;
      serve(theirs, [&](ReadRequest request) {
        auto reply = Taken::answer(handler, std::move(request));
        if (reply) reply->notes = {"slow today"};
        return reply;
      });
    });
  }
  void TearDown() override {
    ours_->close();
    server_.join();
  }
  Result<ReadReply> ask(std::string_view what, Json fields) {
    ASSAY_TRY(ours_->send(write_request(what, 7, std::move(fields))));
    ASSAY_TRY(Message message, ours_->receive());
    return read_reply(std::move(message), 7);
  }

  std::optional<MessageChannel> ours_;
  std::thread server_;
};

TEST_F(Served, ARequestComesBackAsItsAnswer) {
  auto reply = ask("block", Codec<RunBlock>::write({3, 2.0}));
  ASSERT_TRUE(reply && *reply);
  EXPECT_THAT((*reply)->notes, ElementsAre("slow today"));
  const auto answer = Codec<RunBlock::Answer>::read(std::move((*reply)->fields));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->ns, 2'000'000'000);
  EXPECT_EQ(answer->launches, 4);
}

TEST_F(Served, AnErrorComesBackAsItIs) {
  const auto reply = ask("intact", Json::object());
  ASSERT_TRUE(reply);
  ASSERT_FALSE(*reply);
  EXPECT_EQ(reply->error().code, ErrorCode::device_lost);
  EXPECT_EQ(reply->error().message, "it is gone");
}

TEST_F(Served, WhatNobodyTakesIsOurOwnFault) {
  for (const auto& reply : {ask("dance", Json::object()), ask("block", Json::object())}) {
    ASSERT_TRUE(reply);
    ASSERT_FALSE(*reply);
    EXPECT_EQ(reply->error().code, ErrorCode::internal);
  }
}

// What comes from a process that runs a user's code.
TEST(Replies, AreToTheTicketAndWholeOrNone) {
  const Json good = {{"ticket", 7u}, {"answer", Json::object()}, {"notes", Json::array()}};
  EXPECT_TRUE(read_reply({good, {}}, 7));
  EXPECT_FALSE(read_reply({good, {}}, 8));
  for (const char* key : {"ticket", "answer", "notes"}) {
    Json without = good;
    without.erase(key);
    EXPECT_FALSE(read_reply({without, {}}, 7)) << key;
    Json other = good;
    other[key] = "x";
    // Whatever it holds is read as the answer's fields.
    EXPECT_EQ(read_reply({other, {}}, 7).has_value(), std::string_view(key) == "answer") << key;
  }
  Json more = good;
  more["bursts"] = Json::array();
  EXPECT_FALSE(read_reply({more, {}}, 7));
  for (const Json& error :
       {Json("x"), Json({{"code", 3u}}), Json({{"code", 99u}, {"message", "x"}}),
        Json({{"code", -1}, {"message", "x"}}), Json({{"code", 3u}, {"message", 4}})})
    EXPECT_FALSE(read_reply({{{"ticket", 7u}, {"error", error}}, {}}, 7)) << error;
}

TEST(Replies, KeepFewNotesAndMakeThemSafeToShow) {
  Json notes = Json::array();
  for (int i = 0; i < 100; ++i) notes.push_back("\x1b[2J" + std::string(10'000, 'x'));
  auto reply = read_reply({{{"ticket", 7u}, {"answer", 1}, {"notes", notes}}, {}}, 7);
  ASSERT_TRUE(reply && *reply);
  EXPECT_EQ((*reply)->notes.size(), 8u);
  EXPECT_EQ((*reply)->notes[0].find('\x1b'), std::string::npos);
  EXPECT_LT((*reply)->notes[0].size(), 700u);
}

class Fields : public ::testing::Test {
 protected:
  std::string refusal(const Json& fields) {
    const auto read = Codec<Round::Answer>::read(fields);
    EXPECT_FALSE(read) << fields;
    return read ? "" : read.error().message;
  }
  Round::Answer answer_ = {.bursts = {{.ns = 1000, .clean = true, .launches = 20}}, .ended = {}};
  Json good_ = Codec<Round::Answer>::write(answer_);
};

TEST_F(Fields, AreAllThereAndNoOthers) {
  EXPECT_TRUE(Codec<Round::Answer>::read(good_));
  for (const auto& [key, value] : good_.items()) {
    Json without = good_;
    without.erase(key);
    EXPECT_THAT(refusal(without), HasSubstr("'" + key + "' is missing"));
  }
  Json more = good_;
  more["bonus"] = 1;
  EXPECT_THAT(refusal(more), HasSubstr("bonus: unknown key"));
  // Those of a burst, in a list.
  Json without = good_;
  without["bursts"][0].erase(7);
  EXPECT_THAT(refusal(without), HasSubstr("bursts[0]: lacks its approach_ns"));
  more = good_;
  more["bursts"][0].push_back(1);
  EXPECT_THAT(refusal(more), HasSubstr("bursts[0]: is longer than it may be"));
}

TEST_F(Fields, AreOfTheirTypeAndInTheirRange) {
  constexpr size_t kNs = 0, kClean = 1, kLaunches = 3, kTaken = 4;
  const std::pair<size_t, Json> wrong[] = {
      {kNs, nullptr},  {kNs, "12"},      {kNs, 12.5},
      {kNs, 0},        {kNs, -5},        {kNs, 9223372036854775807},
      {kLaunches, 0},  {kClean, 1},      {kLaunches, 1099511627776},
      {kTaken, -4e15}, {kClean, nullptr}};
  for (const auto& [key, value] : wrong) {
    Json bad = good_;
    bad["bursts"][0][key] = value;
    EXPECT_THAT(refusal(bad), HasSubstr(fmt::format("bursts[0][{}]", key))) << value;
  }
  Json null = good_;
  null["armed"] = nullptr;
  EXPECT_THAT(refusal(null), HasSubstr("armed"));
  Json longer = good_;
  longer["armed"] = std::string(1 << 20, 'x');
  EXPECT_THAT(refusal(longer), HasSubstr("armed: may have 65536 bytes, but has 1048576"));
}

TEST_F(Fields, AreSafeToQuote) {
  Json bad = good_;
  bad["\x1b[2J"] = std::string(100'000, 'x');
  const std::string why = refusal(bad);
  EXPECT_EQ(why.find('\x1b'), std::string::npos);
  EXPECT_LT(why.size(), 600u);
}

TEST_F(Fields, FitWhatWasAsked) {
  const Round asked{.bursts = {{0, 20}}, .seed = 1};
  EXPECT_TRUE(asked.check(answer_));
  answer_.bursts[0].launches = 21;
  EXPECT_FALSE(asked.check(answer_)) << "more launches than were asked for";
  answer_.bursts[0].launches = 19;
  EXPECT_TRUE(asked.check(answer_)) << "fewer may be";
  answer_.bursts.push_back(answer_.bursts[0]);
  EXPECT_FALSE(asked.check(answer_));
  answer_.bursts.clear();
  EXPECT_FALSE(asked.check(answer_));
  answer_.ended = {Round::Answer::End::launch_failed, 0, "status 7"};
  EXPECT_TRUE(asked.check(answer_)) << "who fails ends the round";
}

TEST(FilesOfMessages, BelongToItOneByOne) {
  const auto files = [](int count) {
    Files some;
    for (int i = 0; i < count; ++i) some.lend(0);
    return some;
  };
  const Json collected =
      Codec<Collect::Answer>::write({.set = 1, .launch = 2, .output = {.file = 0}});
  EXPECT_TRUE(Codec<Collect::Answer>::read(collected, files(1)));
  EXPECT_FALSE(Codec<Collect::Answer>::read(collected, files(0)));
  EXPECT_FALSE(Codec<Collect::Answer>::read(collected, files(2)));
  const auto block =
      Codec<RunBlock::Answer>::read(Codec<RunBlock::Answer>::write({1, 1}), files(1));
  EXPECT_FALSE(block) << "this one has none";
}

// All bits of seeds, hashes and addresses.
TEST(Numbers, OfSixtyFourBitsStayWhatTheyAre) {
  const uint64_t all = ~uint64_t{0};
  const auto read = Codec<ShareWord::Answer>::read(Codec<ShareWord::Answer>::write({{}, all}));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->word, all);
}

TEST(Numbers, BeyondAnyAreOfChecksAlone) {
  CheckOutput::Answer answer;
  answer.check.max_error = HUGE_VAL;
  const auto read = Codec<CheckOutput::Answer>::read(Codec<CheckOutput::Answer>::write(answer));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->check.max_error, HUGE_VAL);
}

}  // namespace
}  // namespace assay::process
