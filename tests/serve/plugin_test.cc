// `assay serve --backend plugin` with a backend in C that does well, crashes, hangs and lies.

#include <csignal>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "testing/build_plugin.h"
#include "tests/serve/served.h"

namespace assay::serve_tests {
namespace {

using assay::testing::AssayProgram;
using assay::testing::wait_until;
using ::testing::HasSubstr;

// What backend.c does, by the seed of a request.
enum Seed {
  kWell = 1,
  kCrash,
  kHang,
  kWrongToken,
  kWrongJob,
  kError,
  kNoUtf8,
  kTooMany,
  kFails,
  kRefuses,
  kAllAtOnce
};

class ServePlugin : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryDirectory(*TemporaryDirectory::create());
    const auto built =
        testing::build_plugin(AssayProgram::source("tests/serve/backend.c"), folder_->path());
    ASSERT_TRUE(built) << built.error().message;
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }

  static std::string library() { return folder_->file("backend.so"); }
  static std::vector<std::string> flags(std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"--backend", "plugin", "--plugin", library()};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  static bool is_ready(const Served& served) {
    return wait_until([&] { return status_of(served.ask(get("/health"))) == 200; });
  }
  static std::string ask(const Served& served, Seed seed, int tokens = 4, bool stream = false) {
    const Json body = {
        {"prompt", "hi"}, {"max_tokens", tokens}, {"seed", seed}, {"stream", stream}};
    return served.ask(post("/v1/completions", body.dump()));
  }

 private:
  static inline TemporaryDirectory* folder_ = nullptr;
};

TEST_F(ServePlugin, MakesTheTokensOfManyRequestsAtATime) {
  Served served(flags({"--stamps", "s"}));
  ASSERT_TRUE(is_ready(served));
  std::vector<RawClient> clients;
  const Json body = {{"prompt", "hi"}, {"max_tokens", 30}, {"stream", true}};
  for (int i = 0; i < 40; ++i) {
    clients.push_back(served.connect());
    clients.back().send(post("/v1/completions", body.dump()));
  }
  for (RawClient& client : clients) {
    const std::string stream = dechunked(body_of(client.read_until("\r\n0\r\n\r\n")));
    EXPECT_TRUE(stream.ends_with("data: [DONE]\n\n"));
    EXPECT_THAT(stream, HasSubstr(R"("text":"z")"));
    EXPECT_THAT(stream, HasSubstr(R"("finish_reason":"length")"));
  }
  const Json whole = Json::parse(body_of(ask(served, kWell, 4)));
  EXPECT_EQ(whole["choices"][0]["text"], "abcd");
  EXPECT_EQ(whole["usage"]["completion_tokens"], 4);
  EXPECT_EQ(Json::parse(body_of(served.ask(get("/version"))))["backend"], "test");
  served.running().signal(SIGTERM);
  EXPECT_EQ(served.running().wait().code(), 0);
  EXPECT_TRUE(served.running().leaves_nothing());
}

TEST_F(ServePlugin, WhatGoesWrongThereEndsItsRequestsAndNeverTheServer) {
  for (const auto& [seed, words] : {std::pair(kCrash, "SIGABRT"),
                                    {kWrongToken, "made the token 268435456"},
                                    {kWrongJob, "of job 1073741824"},
                                    {kNoUtf8, "not UTF-8"},
                                    {kTooMany, "more tokens"},
                                    {kFails, "the device is gone"}}) {
    Served served(flags());
    ASSERT_TRUE(is_ready(served));
    const std::string answer = ask(served, seed);
    EXPECT_EQ(status_of(answer), 500) << answer;
    EXPECT_THAT(answer, HasSubstr(words));
    ASSERT_TRUE(is_ready(served)) << words;
    EXPECT_EQ(status_of(ask(served, kWell)), 200);
  }
}

TEST_F(ServePlugin, OneThatHangsIsStartedAgain) {
  Served served(flags({"--step-timeout", "0.5"}));
  ASSERT_TRUE(is_ready(served));
  EXPECT_THAT(ask(served, kHang), HasSubstr("made nothing for 0.5 s"));
  ASSERT_TRUE(is_ready(served));
  EXPECT_EQ(status_of(ask(served, kWell)), 200);
}

TEST_F(ServePlugin, AJobAloneMayFail) {
  Served served(flags());
  ASSERT_TRUE(is_ready(served));
  EXPECT_THAT(ask(served, kError), HasSubstr("out of pages"));
  EXPECT_THAT(ask(served, kRefuses), HasSubstr("this prompt is refused"));
  EXPECT_EQ(status_of(ask(served, kWell)), 200);
}

// A backend is told of answers that nobody sees before their end: their tokens may come in one
// step.
TEST_F(ServePlugin, TokensOfAWholeAnswerMayComeTogether) {
  Served served(flags());
  ASSERT_TRUE(is_ready(served));
  const Json whole = Json::parse(body_of(ask(served, kAllAtOnce, 5)));
  EXPECT_EQ(whole["choices"][0]["text"], "wwwww");
  EXPECT_EQ(whole["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(whole["usage"]["completion_tokens"], 5);
  RawClient client = served.connect();
  const Json streamed = {
      {"prompt", "hi"}, {"max_tokens", 2}, {"seed", kAllAtOnce}, {"stream", true}};
  client.send(post("/v1/completions", streamed.dump()));
  EXPECT_THAT(dechunked(body_of(client.read_until("\r\n0\r\n\r\n"))), HasSubstr(R"("text":"s")"));
}

TEST_F(ServePlugin, AClientThatLeavesFreesItsJob) {
  Served served(flags());
  ASSERT_TRUE(is_ready(served));
  for (int i = 0; i < 20; ++i) {
    RawClient client = served.connect();
    const Json body = {{"prompt", "hi"}, {"max_tokens", 4000}, {"stream", true}};
    client.send(post("/v1/completions", body.dump()));
    client.read_until("data: ");
    client.reset();
  }
  EXPECT_TRUE(wait_until([&] { return served.metric("vllm:num_requests_running") == "0"; }));
  EXPECT_EQ(status_of(ask(served, kWell)), 200);
}

TEST_F(ServePlugin, OneThatCannotWorkEndsTheServerWithItsReason) {
  AssayProgram program;
  std::vector<std::string> words = {"serve", "--port", "0", "--model", "unloadable"};
  for (const std::string& word : flags()) words.push_back(word);
  const auto failed = program.run(words);
  EXPECT_EQ(failed.code(), 5);
  EXPECT_THAT(testing::unbroken(failed.err), HasSubstr("there are no weights"));
  EXPECT_EQ(program.run({"serve", "--backend", "plugin"}).code(), 2);
  EXPECT_EQ(program.run({"serve", "--backend", "plugin", "--plugin", "no.so"}).code(), 2);
  EXPECT_EQ(program.run({"serve", "--plugin", "no.so"}).code(), 2);
}

}  // namespace
}  // namespace assay::serve_tests
