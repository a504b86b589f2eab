// What ends a request, a run, or what is kept of them; and what a run must keep.

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "assay/base/text.h"
#include "assay/load/read_record.h"
#include "tests/load/loads.h"

namespace assay::load_tests {
namespace {

std::vector<load::Trace> traces_of(const AssayProgram& program) {
  const auto kept = load::read_kept_run(program.file("out"));
  EXPECT_TRUE(kept) << kept.error().message;
  return kept ? kept->runs.at(0) : std::vector<load::Trace>();
}

// What is under way when the grace ends has no latency, and is counted apart.
TEST(LoadLimits, WhatIsUnfinishedAfterTheGraceIsIncomplete) {
  AssayProgram program;
  Mock mock(program, {"--mock-ttft-ms", "60000"});
  const Finished run =
      load(program, mock.port(),
           {"--max-concurrency", "3", "--duration", "0.2", "--grace", "0.1", "--output-len", "2",
            "--dataset-name", "fixed", "--ready-check-timeout-sec", "60"});
  const Json record = record_of(program);
  EXPECT_EQ(run.code(), 1) << run.err;
  EXPECT_EQ(record["requests"]["incomplete"], 3) << run.err << run.out;
  EXPECT_EQ(record["requests"]["successful"], 0);
  EXPECT_FALSE(record["metrics"].contains("ttft_ms"));
  for (const load::Trace& trace : traces_of(program))
    EXPECT_EQ(trace.error, "the run ended before its answer did");
}

// An answer that comes within the grace counts.
TEST(LoadLimits, TheGraceIsForAnswersUnderWay) {
  AssayProgram program;
  Mock mock(program, {"--mock-ttft-ms", "400"});
  load(program, mock.port(),
       {"--max-concurrency", "2", "--duration", "0.1", "--grace", "60", "--output-len", "2",
        "--dataset-name", "fixed"});
  EXPECT_EQ(record_of(program)["requests"]["successful"], 2);
  EXPECT_EQ(record_of(program)["requests"]["incomplete"], 0);
}

TEST(LoadLimits, AShareOfRequestsIsGivenUp) {
  AssayProgram program;
  Mock mock(program, {"--mock-ttft-ms", "300"});
  load(program, mock.port(),
       {"--max-concurrency", "20", "--num-prompts", "20", "--cancellation-rate", "0.5",
        "--cancellation-delay", "0.02", "--output-len", "2", "--dataset-name", "fixed"});
  const Json record = record_of(program);
  const int cancelled = record["requests"]["cancelled"], done = record["requests"]["successful"];
  EXPECT_EQ(cancelled + done, 20);
  EXPECT_GE(cancelled, 4);
  EXPECT_GE(done, 4);
  EXPECT_EQ(record["metrics"]["ttft_ms"]["n"], done);
  for (const load::Trace& trace : traces_of(program))
    EXPECT_EQ(trace.error, trace.is_success() ? "" : "cancelled, as asked");
}

TEST(LoadLimits, CompletionsAreAskedForAPrompt) {
  AssayProgram program;
  Mock mock(program, {});
  load(program, mock.port(),
       {"--num-prompts", "3", "--endpoint", "completions", "--output-len", "4", "--ignore-eos",
        "--dataset-name", "fixed", "--prompt", "once"});
  EXPECT_EQ(record_of(program)["requests"]["successful"], 3);
  EXPECT_EQ(record_of(program)["tokens"]["out"], 12);
  const std::string inputs = read_file(program.file("out/inputs.jsonl")).value_or("");
  const Json body = Json::parse(split(inputs, '\n').front())["body"];
  EXPECT_EQ(body["prompt"], "once");
  EXPECT_EQ(body["max_tokens"], 4);
  EXPECT_FALSE(body.contains("messages"));
}

TEST(LoadLimits, AShareOfGoodRequestsIsRequired) {
  AssayProgram program;
  Mock mock(program, {"--mock-ttft-ms", "30"});
  const auto run = [&](const char* objective) {
    return load(program, mock.port(),
                {"--num-prompts", "4", "--goodput", objective, "--goodput-share", "0.5",
                 "--output-len", "2", "--dataset-name", "fixed"});
  };
  const Finished missed = run("ttft:10");
  EXPECT_EQ(missed.code(), 1);
  EXPECT_NE(missed.out.find("goodput_share>=0.5: fails (0)"), std::string::npos) << missed.out;
  EXPECT_NE(run("ttft:60000").out.find("goodput_share>=0.5: holds (1)"), std::string::npos);
}

// What other tools' flags put into a record.
TEST(LoadLimits, TheRecordHasWhatItIsAskedFor) {
  AssayProgram program;
  Mock mock(program, {"--mock-itl-ms", "1", "--model", "known"});
  for (int i = 0; i < 2; ++i)
    program.run({"load",
                 "--host",
                 "127.0.0.1",
                 "--port",
                 std::to_string(mock.port()),
                 "--model",
                 "other",
                 "--served-model-name",
                 "known",
                 "--num-prompts",
                 "3",
                 "--output-len",
                 "4",
                 "--dataset-name",
                 "fixed",
                 "--output-dir",
                 "out",
                 "--metadata",
                 "gpu=none",
                 "note=a=b",
                 "--result-filename",
                 "all.jsonl",
                 "--append-result",
                 "--metric-percentiles",
                 "25,99.9",
                 "--percentile-metrics",
                 "ttft"});
  const std::string lines = read_file(program.file("out/all.jsonl")).value_or("");
  ASSERT_EQ(std::ranges::count(lines, '\n'), 2);
  const Json record = Json::parse(split(lines, '\n')[1]);
  EXPECT_EQ(record["requests"]["successful"], 3);
  EXPECT_EQ(record["plan"]["model"], "known");
  EXPECT_EQ(record["metadata"], Json({{"gpu", "none"}, {"note", "a=b"}}));
  const Json& ttft = record["metrics"]["ttft_ms"];
  EXPECT_LE(ttft["p25"], ttft["median"]);
  EXPECT_GE(ttft["p99.9"], ttft["p99"]);
  EXPECT_FALSE(record["metrics"]["e2e_ms"].contains("p25"));
  const Finished alone = program.run({"load", "--port", std::to_string(mock.port()), "--model",
                                      "known", "--append-result", "--output-dir", "alone"});
  EXPECT_EQ(alone.code(), 2);
  EXPECT_NE(alone.err.find("--append-result needs --result-filename"), std::string::npos);
  EXPECT_EQ(program.run({"load", "--base-url", url(mock.port()), "--port", "1"}).code(), 2);
}

// Samples are lines for whoever computes figures of their own.
TEST(LoadLimits, SamplesAreShownAsLines) {
  AssayProgram program;
  Mock mock(program, {});
  load(program, mock.port(), {"--num-prompts", "3", "--output-len", "4", "--ignore-eos"});
  const Finished shown = program.run({"load", "show", "out", "--samples"});
  EXPECT_EQ(shown.code(), 0) << shown.err;
  int number = 0;
  for (const std::string_view line : split(shown.out, '\n')) {
    if (line.empty()) continue;
    const Json sample = Json::parse(line);
    EXPECT_EQ(sample["number"], number++);
    EXPECT_EQ(sample["usage"]["completion"], 4);
    EXPECT_LT(sample["sent_ns"], sample["end_ns"]);
    EXPECT_LT(sample["end_ns"], 60'000'000'000);
  }
  EXPECT_EQ(number, 3);
}

// A machine that lends no descriptor is at fault, not the server.
TEST(LoadLimits, NoDescriptorIsTheMachinesFault) {
  AssayProgram program;
  Mock mock(program, {});
  SubprocessOptions options;
  options.argv = {"sh", "-c", "ulimit -n 40; exec \"$0\" \"$@\"", std::getenv("ASSAY_BINARY")};
  for (const std::string& word :
       {std::string("load"), std::string("--base-url"), url(mock.port()), std::string("--model"),
        std::string("mock"), std::string("--max-concurrency"), std::string("64"),
        std::string("--dataset-name"), std::string("fixed"), std::string("--output-dir"),
        std::string("out")})
    options.argv.push_back(word);
  options.env = {"PATH=/usr/local/bin:/usr/bin:/bin"};
  options.working_directory = program.file(".");
  CommandLimits limits;
  limits.timeout_ns = static_cast<std::int64_t>(testing::kWatchdogSeconds * 1e9);
  const auto ended = run_command(options, limits);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->status.code, 5) << ended->err;
  EXPECT_NE(ended->err.find("cannot open a socket"), std::string::npos) << ended->err;
}

// A server that is gone fails at once: its streams pause, so that failures do not fill the memory.
TEST(LoadLimits, AStreamPausesWhenItsServerIsGone) {
  AssayProgram program;
  BadServer server(program, "hangs_up");
  load(program, server.port(),
       {"--max-concurrency", "2", "--duration", "0.5", "--dataset-name", "fixed"});
  const int errored = record_of(program)["requests"]["errored"];
  EXPECT_GE(errored, 2);
  EXPECT_LE(errored, 12);  // Two streams, at most one failure each 100 ms.
}

TEST(LoadLimits, AnEndlessAnswerIsGivenUp) {
  AssayProgram program;
  BadServer server(program, "endless");
  load(program, server.port(), {"--num-prompts", "1", "--dataset-name", "fixed"});
  const auto traces = traces_of(program);
  ASSERT_EQ(traces.size(), 1U);
  EXPECT_EQ(traces[0].error, "the answer is longer than what is taken");
  EXPECT_LE(traces[0].events.size(), std::size_t{1} << 20);
}

}  // namespace
}  // namespace assay::load_tests
