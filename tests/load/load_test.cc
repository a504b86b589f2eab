// `assay load` itself, against our mock, whose send stamps are the truth, and against servers that
// misbehave.

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/base/text.h"
#include "assay/load/metrics.h"
#include "assay/load/read_record.h"
#include "assay/load/summary.h"
#include "tests/load/loads.h"

namespace assay::load_tests {
namespace {

struct Stamp {
  double ttft_ms = 0;
  double last_ms = 0;
  std::size_t tokens = 0;
};

std::map<std::string, Stamp> stamps(const AssayProgram& program) {
  std::map<std::string, Stamp> all;
  const std::string text = read_file(program.file("stamps")).value_or("");
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    const Json json = Json::parse(line);
    Stamp stamp;
    const auto tokens = json["token_ns"].get<std::vector<std::int64_t>>();
    stamp.tokens = tokens.size();
    if (tokens.empty()) continue;
    stamp.ttft_ms = static_cast<double>(tokens[0] - json["accepted_ns"].get<std::int64_t>()) / 1e6;
    stamp.last_ms =
        static_cast<double>(tokens.back() - json["accepted_ns"].get<std::int64_t>()) / 1e6;
    all[json["request_id"]] = stamp;
  }
  return all;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return load::quantile(values, 0.5);
}

// A busy machine adds to what we see, and nothing takes away from it. How near it is on an idle one
// is for scripts/bench-load to say.
TEST(Load, WhatIsSeenIsWhatTheServerStamped) {
  AssayProgram program;
  Mock mock(program, {"--mock-ttft-ms", "30", "--mock-itl-ms", "5"});
  for (const char* streams : {"1", "64"}) {
    SCOPED_TRACE(streams);
    const Finished run = load(program, mock.port(),
                              {"--max-concurrency", streams, "--num-prompts", "128", "--output-len",
                               "20", "--input-len", "30", "--ignore-eos"});
    EXPECT_NE(run.code(), 2) << run.err;
    const Json record = record_of(program);
    ASSERT_EQ(record["requests"]["successful"], 128) << run.err << run.out;
    EXPECT_EQ(record["tokens"]["out"], 128 * 20);
    EXPECT_EQ(record["tokens"]["in"].get<int>() % 128, 0);
    EXPECT_GE(record["tokens"]["in"], 128 * 30);  // And the template's.
    EXPECT_EQ(record["tokens"]["source"], "usage");
    EXPECT_EQ(record["tokens"]["mismatch"], 0);
    const auto truth = stamps(program);
    const auto kept = load::read_kept_run(program.file("out"));
    ASSERT_TRUE(kept) << kept.error().message;
    std::vector<double> first;
    for (const load::Trace& trace : kept->runs[0]) {
      const auto found = truth.find(trace.request_id);
      ASSERT_NE(found, truth.end()) << trace.request_id;
      // A character of several tokens comes in one chunk.
      EXPECT_EQ(found->second.tokens, static_cast<std::size_t>(trace.usage->completion));
      EXPECT_LE(static_cast<std::size_t>(trace.chunks), found->second.tokens);
      EXPECT_GE(*load::latencies_of(trace).ttft_ms, found->second.ttft_ms - 0.05);
      EXPECT_GE(*load::latencies_of(trace).e2e_ms, found->second.last_ms - 0.05);
      first.push_back(found->second.ttft_ms);
    }
    EXPECT_GE(record["metrics"]["ttft_ms"]["median"], median(first) - 0.05);
  }
}

// Every byte of an answer by itself: the same requests succeed with the same tokens.
TEST(Load, BytesOneByOneAreTheSameAnswers) {
  AssayProgram program;
  Mock mock(program, {"--mock-itl-ms", "1"});
  BadServer proxy(program, "split", mock.port());
  const Finished run =
      load(program, proxy.port(),
           {"--max-concurrency", "2", "--num-prompts", "6", "--output-len", "10", "--ignore-eos"});
  const Json record = record_of(program);
  EXPECT_EQ(record["requests"]["successful"], 6) << run.err;
  EXPECT_EQ(record["tokens"]["out"], 60);
  EXPECT_EQ(record["tokens"]["source"], "usage");
}

struct Case {
  const char* mode;
  int successful;
  const char* sentence;  // In the samples of what failed; empty: nothing failed.
};

class Misbehaving : public ::testing::TestWithParam<Case> {};

TEST_P(Misbehaving, IsToldAsItIs) {
  AssayProgram program;
  BadServer server(program, GetParam().mode);
  const Finished run =
      load(program, server.port(),
           {"--num-prompts", "4", "--max-concurrency", "2", "--dataset-name", "fixed",
            "--request-timeout", GetParam().mode == std::string("stall") ? "0.5" : "60"});
  const Json record = record_of(program);
  EXPECT_EQ(record["requests"]["successful"], GetParam().successful) << run.err << run.out;
  EXPECT_EQ(record["requests"]["errored"], 4 - GetParam().successful);
  EXPECT_EQ(run.code() == 1 || GetParam().successful > 0, true) << run.code();
  const auto kept = load::read_kept_run(program.file("out"));
  ASSERT_TRUE(kept) << kept.error().message;
  for (const load::Trace& trace : kept->runs[0])
    EXPECT_NE(trace.error.find(GetParam().sentence), std::string::npos) << trace.error;
}

INSTANTIATE_TEST_SUITE_P(
    Load, Misbehaving,
    ::testing::Values(Case{"plain", 4, ""}, Case{"crlf", 4, ""}, Case{"comments", 4, ""},
                      Case{"no_final_newline", 4, ""}, Case{"no_usage", 4, ""},
                      Case{"usage_first", 4, ""}, Case{"no_done", 4, ""}, Case{"huge_event", 4, ""},
                      Case{"closes", 4, ""}, Case{"error_frame", 0, "the model fell over"},
                      Case{"early_end", 0, "the stream ended before its answer did"},
                      Case{"bad_json", 0, "no JSON object"},
                      Case{"only_done", 0, "the stream has no choices"},
                      Case{"reset", 0, "closed before the body's end"},
                      Case{"stall", 0, "no whole answer came within 0.5 s"},
                      Case{"busy", 0, "429 Too Many Requests: slow down"},
                      Case{"no_http", 0, "does not begin with a status line"},
                      Case{"redirect", 0, "a redirect (307) to /elsewhere is not followed"},
                      Case{"gzip", 0, "compressed (gzip)"},
                      Case{"wrong_type", 0, "the answer is of type 'text/html'"}),
    [](const auto& info) { return std::string(info.param.mode); });

// A server that closes each kept-alive connection without a word. A request that leaves on one at
// once meets the end: it failed, and is not sent again in secret. Once that was seen, none is used
// twice.
TEST(Load, AConnectionThatIsClosedInSilenceIsNotUsedTwice) {
  AssayProgram program;
  BadServer server(program, "closes_silently");
  load(program, server.port(), {"--num-prompts", "12", "--dataset-name", "fixed"});
  const auto kept = load::read_kept_run(program.file("out"));
  ASSERT_TRUE(kept) << kept.error().message;
  ASSERT_EQ(kept->runs[0].size(), 12U);
  EXPECT_TRUE(kept->runs[0][0].is_success());
  int lost = 0;
  for (const load::Trace& trace : kept->runs[0]) {
    if (trace.is_success()) continue;
    ++lost;
    EXPECT_TRUE(trace.error.find("closed before an answer") != std::string::npos ||
                trace.error.find("reset") != std::string::npos)
        << trace.error;
  }
  // None, but where the end of the first took longer than a connection rests.
  EXPECT_LE(lost, 2);
}

TEST(Load, TokensThatAreMissingAreTold) {
  AssayProgram program;
  BadServer lies(program, "lies");
  load(program, lies.port(),
       {"--num-prompts", "2", "--ignore-eos", "--output-len", "3", "--dataset-name", "fixed"});
  Json record = record_of(program);
  EXPECT_EQ(record["tokens"]["mismatch"], 2);
  EXPECT_EQ(record["tokens"]["fewer_than_chunks"], 2);
  BadServer none(program, "no_usage");
  load(program, none.port(), {"--num-prompts", "2", "--dataset-name", "fixed"});
  record = record_of(program);
  EXPECT_EQ(record["tokens"]["source"], "chunks");
  EXPECT_EQ(record["tokens"]["out"], 6);
  BadServer odd(program, "odd_usage");
  load(program, odd.port(), {"--num-prompts", "2", "--dataset-name", "fixed"});
  record = record_of(program);
  EXPECT_EQ(record["tokens"]["source"], "chunks");
  EXPECT_EQ(record["tokens"]["out"], 6);
  BadServer two(program, "interleaved");
  load(program, two.port(),
       {"--num-prompts", "2", "--dataset-name", "fixed", "--extra-body", "{\"n\": 2}",
        "--ignore-eos", "--output-len", "2"});
  EXPECT_EQ(record_of(program)["metrics"]["itl_gap_ms"]["n"], 4);
  EXPECT_EQ(record_of(program)["tokens"]["mismatch"], 0);
  BadServer one(program, "one_of_two");
  load(program, one.port(),
       {"--num-prompts", "2", "--dataset-name", "fixed", "--extra-body", "{\"n\": 2}"});
  EXPECT_EQ(record_of(program)["requests"]["errored"], 2);
}

// More than a limit allows is told, and so many that sums would overflow count as a bounded number.
TEST(Load, TokensBeyondTheLimitAreTold) {
  AssayProgram program;
  BadServer server(program, "inflates");
  load(program, server.port(),
       {"--num-prompts", "3", "--output-len", "4", "--dataset-name", "fixed"});
  const Json record = record_of(program);
  EXPECT_EQ(record["tokens"]["mismatch"], 3);
  EXPECT_EQ(record["tokens"]["out"], 3'000'000'000);
}

// Who refuses what is asked, or counts tokens that were not, wins nothing.
TEST(Load, ARaceOfFailuresIsRefuted) {
  AssayProgram program;
  AssayProgram other;
  Mock mock(other, {});
  for (const auto& [mode, sentence] : {std::pair{"busy_often", "1 request failed"},
                                       std::pair{"inflates", "another number of tokens"}}) {
    BadServer server(program, mode);
    const Finished race =
        program.run({"load", "race", "--base-url", url(server.port()), "--against",
                     url(mock.port()), "--model", "mock", "--metric", "request_throughput",
                     "--num-prompts", "2", "--output-len", "3", "--dataset-name", "fixed"});
    EXPECT_EQ(race.code(), 1) << race.out << race.err;
    EXPECT_NE(race.err.find(sentence), std::string::npos) << race.err;
  }
}

// The key is sent, and stands nowhere else.
TEST(Load, TheKeyStaysSecret) {
  AssayProgram program;
  ASSERT_TRUE(write_file_atomic(program.file("key"), "hunter2\n"));
  BadServer server(program, "echo");
  const Finished right =
      load(program, server.port(),
           {"--num-prompts", "2", "--dataset-name", "fixed", "--api-key-file", "key", "--json"});
  EXPECT_EQ(record_of(program)["requests"]["successful"], 2) << right.err;
  for (const std::string& text :
       {right.out, right.err, read_file(program.file("out/load.json")).value(),
        read_file(program.file("out/inputs.jsonl")).value()})
    EXPECT_EQ(text.find("hunter2"), std::string::npos) << text;
  // A server that repeats a key that it does not take.
  ASSERT_TRUE(write_file_atomic(program.file("key"), "hunter3\n"));
  load(program, server.port(),
       {"--num-prompts", "1", "--dataset-name", "fixed", "--api-key-file", "key"});
  const auto kept = load::read_kept_run(program.file("out"));
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->runs[0].at(0).error, "401 Unauthorized: no such key: ***");
  const Finished refused = load(program, server.port(),
                                {"--num-prompts", "1", "--header", "Authorization=Bearer hunter2"});
  EXPECT_EQ(refused.code(), 2);
  EXPECT_EQ(refused.err.find("hunter2"), std::string::npos);
}

TEST(Load, AnOpenLoopIsWhatWasAsked) {
  AssayProgram program;
  Mock mock(program, {"--mock-ttft-ms", "5"});
  const Finished run = load(program, mock.port(),
                            {"--request-rate", "100", "--arrivals", "constant", "--num-prompts",
                             "200", "--output-len", "2", "--dataset-name", "fixed"});
  const Json record = record_of(program);
  EXPECT_EQ(record["requests"]["successful"], 200) << run.err;
  EXPECT_NEAR(record["delivered"]["rate_asked"], 100, 0.01);
  EXPECT_EQ(record["plan"]["mode"], "open");
}

// One slot at 100 ms an answer and 50 requests/s: what waits shows from the intended time alone.
TEST(Load, TheQueueOfACapIsReportedApart) {
  AssayProgram program;
  Mock mock(program, {"--mock-ttft-ms", "100"});
  const Finished run =
      load(program, mock.port(),
           {"--request-rate", "50", "--arrivals", "constant", "--max-concurrency", "1",
            "--num-prompts", "20", "--output-len", "1", "--dataset-name", "fixed"});
  EXPECT_EQ(run.code(), 1) << run.err;
  const Json record = record_of(program);
  EXPECT_FALSE(record["delivered"]["as_asked"]);
  EXPECT_EQ(record["metrics"]["peak_concurrency"], 1);
  const double queue = record["metrics"]["client_queue_ms"]["max"];
  EXPECT_GT(queue, 19 * 80);
  EXPECT_LT(record["metrics"]["e2e_ms"]["median"],
            record["metrics"]["e2e_incl_queue_ms"]["median"]);
}

TEST(Load, ConversationsGrowByTheirAnswers) {
  AssayProgram program;
  Mock mock(program, {});
  ASSERT_TRUE(
      write_file_atomic(program.file("talks"), "{\"turns\": [\"one\", \"two\", \"three\"]}\n"));
  const Finished run = load(program, mock.port(),
                            {"--dataset-name", "jsonl", "--dataset-path", "talks", "--num-prompts",
                             "3", "--output-len", "4", "--ignore-eos"});
  EXPECT_EQ(record_of(program)["requests"]["successful"], 3) << run.err;
  std::vector<std::size_t> messages;
  const std::string text = read_file(program.file("out/inputs.jsonl")).value_or("");
  for (const std::string_view line : split(text, '\n'))
    if (!line.empty()) messages.push_back(Json::parse(line)["body"]["messages"].size());
  EXPECT_EQ(messages, (std::vector<std::size_t>{1, 3, 5}));
}

TEST(Load, OneSeedSendsTheSameBytes) {
  AssayProgram program;
  Mock mock(program, {});
  const auto inputs = [&](const char* seed) {
    load(program, mock.port(), {"--num-prompts", "5", "--seed", seed, "--output-len", "2"});
    return *read_file(program.file("out/inputs.jsonl"));
  };
  const std::string first = inputs("7");
  EXPECT_EQ(inputs("7"), first);
  EXPECT_NE(inputs("8"), first);
}

TEST(Load, RequirementsAndObjectives) {
  AssayProgram program;
  Mock mock(program, {"--mock-ttft-ms", "20"});
  const std::vector<std::string> base = {"--num-prompts",  "4",     "--output-len", "2",
                                         "--dataset-name", "fixed", "--goodput",    "ttft:1"};
  auto words = base;
  words.insert(words.end(), {"--require", "ttft_ms.median<1"});
  const Finished fails = load(program, mock.port(), words);
  EXPECT_EQ(fails.code(), 1);
  EXPECT_NE(fails.out.find("ttft_ms.median<1: fails"), std::string::npos) << fails.out;
  EXPECT_EQ(record_of(program)["metrics"]["goodput_share"], 0);
  words = base;
  words.insert(words.end(), {"--require", "requests.errored<=0"});
  EXPECT_NE(load(program, mock.port(), words).out.find("requests.errored<=0: holds"),
            std::string::npos);
}

// A slip is told before anything is sent, an error in the server's own words.
TEST(Load, SlipsAndErrorsAreTold) {
  AssayProgram program;
  Mock mock(program, {});
  const Finished slip =
      load(program, mock.port(), {"--num-prompts", "4", "--require", "tfft_ms.p95<9"});
  EXPECT_EQ(slip.code(), 2);
  EXPECT_NE(slip.err.find("did you mean 'ttft_ms'?"), std::string::npos) << slip.err;
  const Finished none = program.run({"load", "--base-url", url(mock.port()), "--model", "other",
                                     "--num-prompts", "4", "--output-dir", "out"});
  EXPECT_EQ(none.code(), 1);
  EXPECT_NE(none.out.find("errored, 4 of 4: 404 Not Found: There is no model 'other'"),
            std::string::npos)
      << none.out;
}

TEST(Load, WhatCannotBeRunIsRefused) {
  AssayProgram program;
  EXPECT_EQ(program.run({"load"}).code(), 2);
  EXPECT_EQ(program.run({"load", "--base-url", "127.0.0.1:1"}).code(), 2);
  EXPECT_EQ(program.run({"load", "--base-url", "http://127.0.0.1:1", "--model", "m"}).code(), 4);
  EXPECT_EQ(program.run({"load", "--base-url", "http://127.0.0.1:1"}).code(), 4);
  EXPECT_EQ(program
                .run({"load", "--base-url", "http://127.0.0.1:1", "--model", "m",
                      "--ready-check-timeout-sec", "0.3"})
                .code(),
            4);
  EXPECT_EQ(program
                .run({"load", "--base-url", "http://127.0.0.1:1", "--model", "m", "--request-rate",
                      "inf", "--duration", "1"})
                .code(),
            2);
  EXPECT_EQ(program.run({"load", "show", "nothing"}).code(), 2);
  EXPECT_EQ(program.run({"load", "--model", "race", "--base-url", "http://127.0.0.1:1"}).code(), 4);
}

TEST(Load, AnInterruptedRunKeepsWhatItMeasured) {
  AssayProgram program;
  Mock mock(program, {"--mock-itl-ms", "20"});
  Running running =
      program.start({"load", "--base-url", url(mock.port()), "--model", "mock", "--duration", "600",
                     "--output-len", "5", "--output-dir", "out", "--dataset-name", "fixed"});
  EXPECT_TRUE(wait_until([&] {
    return std::ranges::count(read_file(program.file("stamps")).value_or(""), '\n') >= 3;
  }));
  running.signal(SIGINT);
  EXPECT_EQ(running.wait().code(), 130);
  const Json record = record_of(program);
  EXPECT_TRUE(record["interrupted"]);
  EXPECT_GE(record["requests"]["successful"], 2);
}

// Of pairs and loads, too: each is told while the next is under way, and none is lost.
TEST(Load, AnInterruptedRaceSweepOrSearchKeepsWhatItMeasured) {
  struct Kind {
    std::vector<std::string> words;
    std::string told, said;
    const char* list;
  };
  const Kind kinds[] = {
      {{"race", "--against"}, "pair 1: output_throughput_tok_s", "ended after", "pairs"},
      {{"sweep", "--loads", "1,1,1,1,1,1,1,1,1,1,1,1"}, "concurrency 1: ", "knee", "points"},
      {{"search", "--slo", "ttft_ms.p95<100000"},
       "concurrency 1: keeps it",
       "kept it so far",
       "tried"}};
  for (const Kind& kind : kinds) {
    AssayProgram program;
    Mock mock(program, {"--mock-ttft-ms", "300"});
    std::vector<std::string> words = {"load"};
    words.insert(words.end(), kind.words.begin(), kind.words.end());
    if (words.back() == "--against") words.push_back(url(mock.port()));
    for (const char* word : {"--model", "mock", "--num-prompts", "4", "--output-len", "2",
                             "--dataset-name", "fixed", "--output", "kept.json", "--base-url"})
      words.emplace_back(word);
    words.push_back(url(mock.port()));
    Running running = program.start(words);
    EXPECT_TRUE(wait_until([&] {
      return running.errors_so_far().find(kind.told) != std::string::npos;
    })) << running.errors_so_far();
    running.signal(SIGINT);
    const Finished finished = running.wait();
    EXPECT_EQ(finished.code(), 130) << finished.err;
    EXPECT_NE(finished.out.find(kind.said), std::string::npos) << finished.out;
    const Json json = Json::parse(read_file(program.file("kept.json")).value_or("{}"));
    EXPECT_EQ(json["whole"], false) << json;
    EXPECT_GE(json[kind.list].size(), 1U) << json;
  }
}

// The client is stopped for 50 ms: sends are late, and the run says so.
TEST(Load, AStoppedClientMarksItsRun) {
  AssayProgram program;
  Mock mock(program, {});
  Running running =
      program.start({"load", "--base-url", url(mock.port()), "--model", "mock", "--request-rate",
                     "500", "--arrivals", "constant", "--duration", "3", "--output-len", "1",
                     "--output-dir", "out", "--dataset-name", "fixed"});
  EXPECT_TRUE(wait_until([&] {
    return std::ranges::count(read_file(program.file("stamps")).value_or(""), '\n') >= 50;
  }));
  running.signal(SIGSTOP);
  const auto until = monotonic_ns() + 100 * kNsPerMs;
  EXPECT_TRUE(wait_until([&] { return monotonic_ns() > until; }));
  running.signal(SIGCONT);
  EXPECT_EQ(running.wait().code(), 1);
  const Json record = record_of(program);
  EXPECT_TRUE(record["client"]["limited"]);
  EXPECT_GE(record["client"]["late_sends"], 40);
  EXPECT_GE(record["client"]["reanchored"], 1);
  // Whoever shows it again is told, too.
  const Finished shown = program.run({"load", "show", "out"});
  EXPECT_EQ(shown.code(), 1);
  EXPECT_NE(shown.out.find("client_limited: "), std::string::npos) << shown.out;
  for (const std::string_view line : split(shown.out, '\n'))
    if (line.find("_limited: ") == std::string_view::npos &&
        line.find("_delivered: ") == std::string_view::npos)
      EXPECT_LE(line.size(), 80U) << line;
  const Finished vllm = program.run({"load", "show", "out", "--as", "vllm"});
  EXPECT_EQ(vllm.code(), 1);
  EXPECT_NE(vllm.err.find("client_limited: "), std::string::npos) << vllm.err;
  EXPECT_TRUE(Json::parse(vllm.out).contains("completed"));
  EXPECT_EQ(program.run({"load", "show", "out", "--samples"}).code(), 0);
}

TEST(Load, ARaceOfOneServerAndASlowerOne) {
  AssayProgram program;
  Mock fast(program, {"--mock-itl-ms", "2"});
  AssayProgram other;
  Mock slow(other, {"--mock-itl-ms", "4"});
  const Finished race = program.run({"load", "race", "--base-url", url(fast.port()), "--against",
                                     url(slow.port()), "--model", "mock", "--num-prompts", "8",
                                     "--max-concurrency", "4", "--output-len", "40", "--ignore-eos",
                                     "--dataset-name", "fixed", "--output", "race.json"});
  const Json json = Json::parse(read_file(program.file("race.json")).value_or("{}"));
  EXPECT_EQ(json["verdict"]["word"], "faster") << race.out << race.err;
  EXPECT_EQ(json["pairs"].size(), 8U);
}

// Two slots: with three streams the third waits for a slot, which doubles its first token's time.
TEST(Load, ASearchFindsTheKnee) {
  AssayProgram program;
  Mock mock(program, {"--mock-ttft-ms", "60", "--mock-slots", "3"});
  const Finished search =
      program.run({"load", "search", "--base-url", url(mock.port()), "--model", "mock", "--slo",
                   "ttft_ms.p90<105", "--num-prompts", "16", "--output-len", "1", "--dataset-name",
                   "fixed", "--output", "search.json"});
  const Json json = Json::parse(read_file(program.file("search.json")).value_or("{}"));
  EXPECT_EQ(json["largest"], 3) << search.out << search.err;
}

// A search asks for as many requests as the load needs, and a load that was not delivered is none.
TEST(Load, ASearchDeliversWhatItSaysIsKept) {
  AssayProgram program;
  Mock mock(program, {"--mock-ttft-ms", "100"});
  const auto search = [&](std::vector<std::string> words) {
    std::vector<std::string> all = {
        "load",         "search", "--base-url",       url(mock.port()), "--model",
        "mock",         "--slo",  "ttft_ms.p95<9000", "--dataset-name", "fixed",
        "--output-len", "1",      "--output",         "search.json"};
    all.insert(all.end(), words.begin(), words.end());
    program.run(all);
    return Json::parse(read_file(program.file("search.json")).value_or("{}"));
  };
  EXPECT_EQ(search({"--from", "16", "--most", "16", "--num-prompts", "8"})["largest"], 16);
  EXPECT_GE(std::ranges::count(read_file(program.file("stamps")).value_or(""), '\n'), 4 * 4 * 16);
  // One request at a time and 100 ms each are 10 in a second.
  const Json capped = search({"--over", "rate", "--from", "80", "--most", "80", "--max-concurrency",
                              "1", "--duration", "0.5", "--resolution", "0.5"});
  EXPECT_EQ(capped["tried"][0]["keeps"], false) << capped;
  EXPECT_LE(capped["largest"], 20) << capped;
}

TEST(Load, ARunUnderAnotherToolsNames) {
  AssayProgram program;
  Mock mock(program, {});
  load(program, mock.port(), {"--num-prompts", "5", "--output-len", "3", "--ignore-eos"});
  const Json record = record_of(program);
  const Json vllm = Json::parse(program.run({"load", "show", "out", "--as", "vllm"}).out);
  EXPECT_EQ(vllm["completed"], 5);
  EXPECT_NEAR(vllm["median_ttft_ms"], record["metrics"]["ttft_ms"]["median"], 1e-3);
  const Json aiperf = Json::parse(program.run({"load", "show", "out", "--as", "aiperf"}).out);
  EXPECT_NEAR(aiperf["request_latency"]["avg"], record["metrics"]["e2e_ms"]["mean"], 1e-3);
  const Json guidellm = Json::parse(program.run({"load", "show", "out", "--as", "guidellm"}).out);
  EXPECT_EQ(guidellm["metrics"]["request_totals"]["successful"], 5);
}

// A certificate is trusted for its name, by who is trusted, and not otherwise.
TEST(Load, HttpsIsVerified) {
  AssayProgram program;
  BadServer server(program, "tls");
  const auto run = [&](const std::string& host, std::vector<std::string> more) {
    std::vector<std::string> words = {"load",
                                      "--base-url",
                                      fmt::format("https://{}:{}", host, server.port()),
                                      "--model",
                                      "mock",
                                      "--num-prompts",
                                      "3",
                                      "--dataset-name",
                                      "fixed",
                                      "--output-dir",
                                      "out"};
    words.insert(words.end(), more.begin(), more.end());
    return program.run(words);
  };
  const Finished trusted = run("127.0.0.1", {"--ca-file", "cert.pem"});
  EXPECT_EQ(record_of(program)["requests"]["successful"], 3) << trusted.err;
  const Finished stranger = run("127.0.0.1", {});
  EXPECT_EQ(stranger.code(), 4) << stranger.out;
  EXPECT_NE(stranger.err.find("not trusted"), std::string::npos) << stranger.err;
  const Finished misnamed = run("localhost", {"--ca-file", "cert.pem"});
  EXPECT_EQ(misnamed.code(), 4) << misnamed.out;
  EXPECT_EQ(run("127.0.0.1", {"--ca-file", "key.pem"}).code(), 2);
}

// The server lives as long as the run.
TEST(Load, AServerIsStartedAndEnded) {
  AssayProgram program;
  const std::string binary = std::getenv("ASSAY_BINARY");
  std::vector<std::string> words = {"load",  "--model",      "mock", "--num-prompts",
                                    "3",     "--output-len", "2",    "--dataset-name",
                                    "fixed", "--output-dir", "out",  "--ready-check-timeout-sec",
                                    "60"};
  for (const std::string& word :
       {binary, std::string("serve"), std::string("--port"), std::string("{port}")})
    words.push_back("--start=" + word);
  Running running = program.start(words);
  const Finished run = running.wait();
  EXPECT_EQ(record_of(program)["requests"]["successful"], 3) << run.err << run.out;
  EXPECT_TRUE(running.leaves_nothing());
}

TEST(Load, RunsGiveIntervals) {
  AssayProgram program;
  Mock mock(program, {"--mock-ttft-ms", "5"});
  load(program, mock.port(),
       {"--num-prompts", "4", "--output-len", "2", "--runs", "3", "--cool-down", "0",
        "--dataset-name", "fixed"});
  const Json record = record_of(program);
  EXPECT_EQ(record["runs"].size(), 3U);
  EXPECT_EQ(record["requests"]["successful"], 12);
  const Json& interval = record["intervals"]["of"]["ttft_ms.median"];
  EXPECT_LE(interval["low"], interval["mean"]);
  EXPECT_GE(interval["high"], interval["mean"]);
}

}  // namespace
}  // namespace assay::load_tests
