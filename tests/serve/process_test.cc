// `assay serve --backend process`: our own mock as the server behind it, and one that misbehaves.

#include <csignal>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/serve/served.h"

namespace assay::serve_tests {
namespace {

using assay::testing::AssayProgram;
using assay::testing::wait_until;
using ::testing::HasSubstr;

std::vector<std::string> before(std::vector<std::string> command) {
  std::vector<std::string> words = {"--backend", "process", "--model", "mine", "--"};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

std::vector<std::string> misbehaving(const std::string& mode) {
  return before({"python3", AssayProgram::source("tests/serve/upstream.py"), "{port}", mode});
}

std::vector<std::string> mock(std::vector<std::string> more = {}) {
  std::vector<std::string> command = {
      std::getenv("ASSAY_BINARY"), "serve", "--port", "0", "--port-file", "{port_file}"};
  command.insert(command.end(), more.begin(), more.end());
  return before(command);
}

bool is_ready(const Served& served) {
  return wait_until([&] { return status_of(served.ask(get("/health"))) == 200; });
}

std::string stream_of(const Served& served) {
  RawClient client = served.connect();
  client.send(post(kChat, kStream));
  return dechunked(body_of(client.read_until("\r\n0\r\n\r\n")));
}

TEST(ServeProcess, AnswersAsTheServerBehindItDoes) {
  Served served(mock());
  ASSERT_TRUE(is_ready(served));
  const std::string stream = stream_of(served);
  EXPECT_THAT(stream, HasSubstr(R"("completion_tokens":20)"));
  EXPECT_TRUE(stream.ends_with("data: [DONE]\n\n"));
  const std::string whole = served.ask(post(kChat, kWhole, "X-Request-Id: mine\r\n"));
  EXPECT_EQ(status_of(whole), 200);
  EXPECT_THAT(whole, HasSubstr("x-request-id: mine\r\n"));
  EXPECT_EQ(Json::parse(body_of(served.ask(get("/v1/models"))))["data"][0]["id"], "mock");
  EXPECT_EQ(status_of(served.ask(post(kChat, R"({"messages":[]})"))), 400);
  EXPECT_EQ(status_of(served.ask(post(kChat, "{"))), 400);
  EXPECT_EQ(status_of(served.ask(get("/nothing"))), 404);
  served.running().signal(SIGTERM);
  EXPECT_EQ(served.running().wait().code(), 0);
  EXPECT_TRUE(served.running().leaves_nothing());
}

TEST(ServeProcess, PassesOddBytesOnAndAddsTheModelsThatTheServerDoesNotTell) {
  Served served(misbehaving("odd"));
  ASSERT_TRUE(is_ready(served));
  EXPECT_EQ(stream_of(served),
            "data: {\"choices\" : [ ] ,\"odd\":\"\\u00e9\xc3\xa9\"}\n\n: ping\n\ndata: x\n\n"
            "data: [DONE]\n\n");
  EXPECT_EQ(Json::parse(body_of(served.ask(get("/v1/models"))))["data"][0]["id"], "mine");
  // Written anew: a number stays as it is, and what is asked is what was checked.
  const std::string answer = served.ask(
      post(kChat, "{ \"messages\" : [], \"temperature\" : 0.1 }", "X-Request-Id: r1\r\n"));
  EXPECT_EQ(status_of(answer), 418);
  EXPECT_EQ(Json::parse(body_of(answer)),
            Json({{"asked", {{"messages", Json::array()}, {"temperature", 0.1}}}, {"id", "r1"}}));
}

TEST(ServeProcess, AServerThatDiesIsToldOfAndStartedAgain) {
  Served served(misbehaving("dies"));
  ASSERT_TRUE(is_ready(served));
  const std::string stream = stream_of(served);
  EXPECT_THAT(stream, HasSubstr(R"("error":{"message":"The upstream server gave no whole answer)"));
  EXPECT_TRUE(stream.ends_with("data: [DONE]\n\n")) << stream;
  EXPECT_TRUE(is_ready(served));
}

TEST(ServeProcess, AStreamThatBreaksInsideAFrameIsCut) {
  Served served(misbehaving("dies_in_a_frame"));
  ASSERT_TRUE(is_ready(served));
  RawClient client = served.connect();
  client.send(post(kChat, kStream));
  const std::string answer = client.read_all();
  EXPECT_EQ(answer.find("[DONE]"), std::string::npos);
  EXPECT_FALSE(answer.ends_with("0\r\n\r\n"));
}

TEST(ServeProcess, WhatIsNoHttpIsAnError) {
  Served served(misbehaving("garbage"));
  ASSERT_TRUE(is_ready(served));
  EXPECT_EQ(status_of(served.ask(post(kChat, kWhole))), 503);
}

TEST(ServeProcess, AServerThatCannotLoadEndsItWithItsLastWords) {
  AssayProgram program;
  std::vector<std::string> words = {"serve", "--port", "0"};
  for (const std::string& word : misbehaving("cannot_load")) words.push_back(word);
  const auto finished = program.run(words);
  EXPECT_EQ(finished.code(), 5);
  EXPECT_THAT(testing::unbroken(finished.err), HasSubstr("exited with code 3"));
  EXPECT_THAT(testing::unbroken(finished.err), HasSubstr(R"(no weights \x1b[31m in this file)"));
}

TEST(ServeProcess, IsUnavailableUntilTheServerIsReady) {
  Served served(misbehaving("never_ready"));
  const std::string health = served.ask(get("/health"));
  EXPECT_EQ(status_of(health), 503);
  EXPECT_THAT(health, HasSubstr("unavailable_error"));
  EXPECT_EQ(status_of(served.ask(post(kChat, kWhole))), 503);
  EXPECT_EQ(Json::parse(body_of(served.ask(get("/v1/models"))))["data"][0]["id"], "mine");
}

TEST(ServeProcess, EndsAllThatTheServerHasStarted) {
  Served served(misbehaving("tree"));
  ASSERT_TRUE(is_ready(served));
  const auto daemon =
      static_cast<pid_t>(std::strtol(served.content("daemon").c_str(), nullptr, 10));
  ASSERT_GT(daemon, 1);
  ASSERT_EQ(::kill(daemon, 0), 0);
  served.running().signal(SIGKILL);  // Even then.
  EXPECT_TRUE(wait_until([&] { return ::kill(daemon, 0) != 0; }));
}

TEST(ServeProcess, SaysWhatIsWrongWithItsFlags) {
  AssayProgram program;
  EXPECT_EQ(program.run({"serve", "--backend", "process"}).code(), 2);
  EXPECT_EQ(program.run({"serve", "--", "true"}).code(), 2);
  const auto absent = program.run({"serve", "--backend", "process", "--", "no-such-server"});
  EXPECT_EQ(absent.code(), 4);
  EXPECT_THAT(absent.err, HasSubstr("no-such-server"));
}

}  // namespace
}  // namespace assay::serve_tests
