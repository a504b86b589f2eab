// Whom `assay lab` tells: a case on a benchmark that prints, and a server that plays Discord.

#include <csignal>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/clock.h"
#include "assay/base/subprocess.h"
#include "testing/assay_program.h"
#include "tests/lab/fake_webhook.h"

namespace assay::lab_tests {
namespace {

using testing::AssayProgram;
using testing::Finished;
using ::testing::HasSubstr;
using ::testing::Not;

class NotifyTest : public ::testing::Test {
 protected:
  NotifyTest() {
    write("lab.yaml", "schema: assay.lab/1\nnotify: {enabled: true, preset: discord}\n");
    write("cases/toy/case/case.yaml",
          "schema: assay.case/1\nmodel: {name: t, path: m}\nhardware: {name: h}\n"
          "benchmarks: [benchmarks/run.yaml]\n"
          "objective: {metric: run.time_us, direction: minimize, unit: us}\n"
          "fixed: [benchmarks/**]\nconfirm: {looks: [6], budget_s: 600}\n");
    write("cases/toy/case/benchmarks/run.yaml",
          "schema: assay.benchmark/1\nname: run\nkind: shell_json\n"
          "command: [sh, benchmarks/run.sh]\n");
    write("cases/toy/case/benchmarks/run.sh",
          "echo \"{\\\"time_us\\\": $(cat workspace/time)}\"\n");
    set_time("100");
  }

  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = program_.file(name);
    std::filesystem::create_directories(path.parent_path());
    ASSERT_TRUE(write_file_atomic(path.string(), text));
  }
  void set_time(const std::string& text) const { write("cases/toy/case/workspace/time", text); }

  Finished run(std::vector<std::string> words, const std::string& url) const {
    words.insert(words.begin(), "lab");
    words.insert(words.end(), {"--case", "cases/toy/case"});
    return program_.run(std::move(words), {"env", "ASSAY_WEBHOOK_URL=" + url});
  }
  // One attempt's record.
  Json evaluate(const std::string& time, std::vector<std::string> more = {}) {
    set_time(time);
    std::vector<std::string> words = {"eval", "--json", "--description", "time " + time};
    words.insert(words.end(), more.begin(), more.end());
    const Finished finished = run(std::move(words), webhook_.url());
    const auto record = parse_json(finished.out, "record");
    EXPECT_TRUE(record) << finished.out << finished.err;
    return record ? *record : Json::object();
  }
  std::string unsent() const {
    const auto json =
        parse_json(run({"notify", "--status", "--json"}, webhook_.url()).out, "status");
    for (const Json& setting : json ? (*json)["settings"] : Json::array())
      if (setting["name"] == "unsent") return setting["value"].get<std::string>();
    return "none";
  }
  static std::string words_of(const Json& record) {
    return fmt::format("expected {} attempted {} sent {} {}",
                       record.value("webhook_expected", false),
                       record.value("webhook_attempted", false),
                       record.value("webhook_sent", false), record.value("webhook_status", ""));
  }
  // Of everything that this program wrote.
  void expect_no_secret() const {
    const Finished found = program_.run({}, {"sh", "-c", "grep -rl s3cret . ; true", "sh"});
    EXPECT_EQ(found.out, "");
  }

  AssayProgram program_;
  FakeWebhook webhook_;
};

TEST_F(NotifyTest, AKeepIsToldWithItsPlotAndADiscardIsNot) {
  EXPECT_EQ(words_of(evaluate("100")), "expected true attempted true sent true sent");
  webhook_.take_requests();
  const Json kept = evaluate("80");
  EXPECT_EQ(words_of(kept), "expected true attempted true sent true sent");
  EXPECT_EQ(kept["stages"].back()["name"], "notify");
  const auto requests = webhook_.take_requests();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].method, "POST");
  EXPECT_EQ(requests[0].target, "/api/webhooks/1/s3cret?wait=true");
  EXPECT_THAT(*requests[0].find("user-agent"), HasSubstr("assay/"));
  EXPECT_THAT(requests[0].body, HasSubstr("toy/case, attempt 2\\\\: keep"));
  EXPECT_THAT(requests[0].body, HasSubstr("80.0 us"));
  EXPECT_THAT(requests[0].body, HasSubstr(R"("allowed_mentions":{"parse":[]})"));
  if (program_.run({}, {"sh", "-c", "command -v rsvg-convert", "sh"}).code() == 0) {
    EXPECT_THAT(requests[0].body, HasSubstr("\x89PNG"));
  }
  EXPECT_EQ(words_of(evaluate("90")), "expected false attempted false sent false not_expected");
  EXPECT_EQ(words_of(evaluate("70", {"--no-webhook"})),
            "expected false attempted false sent false disabled_by_flag");
  EXPECT_TRUE(webhook_.take_requests().empty());
  expect_no_secret();
}

// Whatever the service does, the verdict is the same, and the record says what became of it.
TEST_F(NotifyTest, FailuresAreSaidAndChangeNoVerdict) {
  evaluate("100");
  struct Failure {
    std::vector<net::Response> answers;
    std::string words;
    std::size_t requests;
  };
  const net::Response broken{503, {}, ""}, redirect{302, {{"location", webhook_.url()}}, ""};
  const std::vector<Failure> failures = {
      {{broken, broken, broken}, "expected true attempted true sent false http_503", 3},
      {{broken, {204, {}, ""}}, "expected true attempted true sent true sent", 3},
      {{redirect}, "expected true attempted true sent false http_302", 1},
      {{{401, {}, ""}}, "expected true attempted true sent false http_401", 1},
      {{{429, {{"retry-after", "1"}}, R"({"retry_after":0.01,"global":false})"}},
       "expected true attempted true sent true sent",
       2},
      {{{429, {{"retry-after", "3600"}}, ""}},
       "expected true attempted true sent false rate_limited",
       1},
  };
  int time = 90;
  for (const Failure& failure : failures) {
    webhook_.take_requests();
    webhook_.answer_next(failure.answers);
    const Json record = evaluate(std::to_string(time -= 10));
    EXPECT_EQ(record.value("outcome", ""), "keep");
    EXPECT_EQ(words_of(record), failure.words);
    EXPECT_EQ(webhook_.take_requests().size(), failure.requests) << failure.words;
  }
  expect_no_secret();
}

// The second message of the list above was the first that got through, and brought what waited.
TEST_F(NotifyTest, WhatWasNotSentWaitsAndComesWithTheNext) {
  webhook_.answer_next({{503, {}, ""}, {503, {}, ""}, {503, {}, ""}});
  evaluate("100");
  EXPECT_EQ(unsent(), "1");
  webhook_.take_requests();
  evaluate("80");
  const auto requests = webhook_.take_requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_THAT(requests[0].body, HasSubstr("attempt 2"));
  EXPECT_THAT(requests[1].body, HasSubstr("attempt 1"));
  EXPECT_EQ(unsent(), "0");
}

TEST_F(NotifyTest, AWebhookThatIsGoneIsNeverUsedAgain) {
  webhook_.answer_next({{404, {}, R"({"message":"Unknown Webhook","code":10015})"}});
  EXPECT_EQ(words_of(evaluate("100")), "expected true attempted true sent false dead_404");
  EXPECT_EQ(webhook_.take_requests().size(), 1U);
  EXPECT_EQ(words_of(evaluate("80")), "expected true attempted false sent false dead_404");
  const Finished tested = run({"notify", "--send-test", "--probe"}, webhook_.url());
  EXPECT_EQ(tested.code(), 1);
  EXPECT_THAT(tested.out, HasSubstr("dead_404"));
  EXPECT_TRUE(webhook_.take_requests().empty());
}

TEST_F(NotifyTest, StatusSaysWhereEachSettingWasReadAndProbeAsksOnly) {
  const Finished status = run({"notify", "--status", "--probe"}, webhook_.url());
  EXPECT_EQ(status.code(), 0) << status.err;
  EXPECT_THAT(status.out, HasSubstr("lab.yaml:2"));
  EXPECT_THAT(status.out, HasSubstr("http://127.0.0.1/… (ASSAY_WEBHOOK_URL, of the environment)"));
  EXPECT_THAT(status.out, HasSubstr("probe     sent"));
  EXPECT_THAT(status.out, Not(HasSubstr("s3cret")));
  const auto requests = webhook_.take_requests();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].method, "GET");

  const Finished sent = run({"notify", "--send-test"}, webhook_.url());
  EXPECT_EQ(sent.code(), 0) << sent.err;
  EXPECT_EQ(webhook_.take_requests().size(), 1U);

  // From the lab's .env, in a folder of the case.
  write(".env", "# mine\nASSAY_WEBHOOK_URL=" + webhook_.url() + "\n");
  const Finished of_file =
      program_.run({"lab", "notify", "--status"}, {"env", "-C", "cases/toy/case"});
  EXPECT_THAT(of_file.out, HasSubstr(".env:2"));
  EXPECT_THAT(of_file.out, Not(HasSubstr("s3cret")));

  const Finished open = run({"notify", "--probe"}, "http://example.com/s3cret");
  EXPECT_EQ(open.code(), 2);
  EXPECT_THAT(open.err, HasSubstr("unencrypted"));
  EXPECT_THAT(open.err, Not(HasSubstr("s3cret")));
}

// Behind TLS nobody is told whose certificate is not trusted, and redirects lead nowhere.
TEST_F(NotifyTest, AWebhookBehindTlsIsToldIfItIsTrusted) {
  SubprocessOptions front;
  front.argv = {"python3", AssayProgram::source("tests/lab/tls_front.py"),
                std::to_string(webhook_.port()), program_.file("tls_port")};
  front.env = {"PATH=/usr/local/bin:/usr/bin:/bin"};
  const auto started = Subprocess::start(front);
  ASSERT_TRUE(started) << started.error().message;
  int port = 0;
  ASSERT_TRUE(testing::wait_until([&] {
    port = std::atoi(read_file(program_.file("tls_port")).value_or("").c_str());
    return port != 0;
  }));
  const auto test_at = [&](const std::string& host, const std::string& trusted) {
    return program_.run(
        {"lab", "notify", "--send-test", "--case", "cases/toy/case"},
        {"env", fmt::format("ASSAY_WEBHOOK_URL=https://{}:{}/api/webhooks/1/s3cret", host, port),
         "ASSAY_WEBHOOK_CA_FILE=" + trusted});
  };
  const Finished trusted = test_at("127.0.0.1", "cert.pem");
  EXPECT_EQ(trusted.code(), 0) << trusted.err;
  EXPECT_EQ(webhook_.take_requests().size(), 1U);

  const Finished stranger = test_at("127.0.0.1", "");
  EXPECT_EQ(stranger.code(), 1);
  EXPECT_THAT(stranger.out + stranger.err, HasSubstr("certificate is not trusted"));
  const Finished misnamed = test_at("localhost", "cert.pem");
  EXPECT_EQ(misnamed.code(), 1);
  const Finished no_file = test_at("127.0.0.1", "nowhere.pem");
  EXPECT_EQ(no_file.code(), 1);
  EXPECT_THAT(no_file.out + no_file.err, HasSubstr("nowhere.pem"));
  EXPECT_TRUE(webhook_.take_requests().empty());

  webhook_.answer_next({{302, {{"location", webhook_.url()}}, ""}});
  EXPECT_EQ(test_at("127.0.0.1", "cert.pem").code(), 1);
  EXPECT_EQ(webhook_.take_requests().size(), 1U);
  expect_no_secret();
}

// A server that never answers costs its time, and no more; a stop ends it at once.
TEST_F(NotifyTest, ASilentServerIsLeftAndWhatItWasToldWaits) {
  webhook_.answer_next({{FakeWebhook::kSilent, {}, ""}, {FakeWebhook::kSilent, {}, ""}});
  const std::int64_t began = monotonic_ns();
  EXPECT_EQ(words_of(evaluate("100")), "expected true attempted true sent false timeout");
  EXPECT_LT(monotonic_ns() - began, 60 * kNsPerSecond);
  EXPECT_EQ(unsent(), "1");
}

// The end of the attempt was on the disk before; the record says that telling was not.
TEST_F(NotifyTest, AKillWhileTellingLeavesTheVerdict) {
  webhook_.answer_next({{FakeWebhook::kSilent, {}, ""}});
  set_time("100");
  testing::Running running =
      program_.start({"lab", "eval", "--case", "cases/toy/case", "--run-tag", "killed"},
                     {"env", "ASSAY_WEBHOOK_URL=" + webhook_.url()});
  ASSERT_TRUE(testing::wait_until([&] { return !webhook_.take_requests().empty(); }));
  running.signal(SIGKILL);
  running.wait();
  const Finished shown = run({"show", "1", "--json"}, webhook_.url());
  const auto record = parse_json(shown.out, "record");
  ASSERT_TRUE(record) << shown.out << shown.err;
  EXPECT_EQ((*record)["outcome"], "keep");
  EXPECT_EQ((*record)["webhook_status"], "interrupted");
  EXPECT_EQ((*record)["webhook_expected"], true);
  EXPECT_THAT(run({"history"}, webhook_.url()).out, HasSubstr("baseline"));
}

}  // namespace
}  // namespace assay::lab_tests
