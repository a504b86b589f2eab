// Kinds of runs: sent again, counted by a tokenizer, replayed from a trace, swept, watched.

#include <string>
#include <vector>

#include "assay/base/text.h"
#include "assay/load/metrics.h"
#include "assay/load/read_record.h"
#include "assay/text/byte_alphabet.h"
#include "assay/text/tokenizer.h"
#include "tests/load/loads.h"

namespace assay::load_tests {
namespace {

std::vector<Json> messages_of(const AssayProgram& program) {
  std::vector<Json> all;
  const std::string inputs = read_file(program.file("out/inputs.jsonl")).value_or("");
  for (const std::string_view line : split(inputs, '\n'))
    if (!line.empty()) all.push_back(Json::parse(line)["body"]["messages"]);
  return all;
}

// What the first message of each request says.
std::vector<std::string> prompts_of(const AssayProgram& program) {
  std::vector<std::string> prompts;
  for (const Json& messages : messages_of(program)) prompts.push_back(messages[0]["content"]);
  return prompts;
}

// A request that is refused twice counts once, from the first time that it was sent.
TEST(LoadKinds, WhatIsRefusedForNowIsSentAgain) {
  AssayProgram program;
  BadServer server(program, "busy_twice");
  const std::vector<std::string> words = {"--num-prompts", "3",       "--dataset-name",
                                          "fixed",         "--retry", "2"};
  const Finished run = load(program, server.port(), words);
  const Json record = record_of(program);
  EXPECT_EQ(record["requests"]["successful"], 3) << run.err << run.out;
  EXPECT_EQ(record["requests"]["retried"], 1);
  EXPECT_NE(run.out.find("1 sent again"), std::string::npos) << run.out;
  const auto kept = load::read_kept_run(program.file("out"));
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->runs[0].at(0).retries, 2);
  EXPECT_GE(*load::latencies_of(kept->runs[0][0]).ttft_ms, 400);
  EXPECT_EQ(messages_of(program).size(), 3U);
}

TEST(LoadKinds, WhatIsRefusedTooOftenFails) {
  AssayProgram program;
  BadServer server(program, "busy_twice");
  load(program, server.port(), {"--num-prompts", "2", "--dataset-name", "fixed", "--retry", "1"});
  const Json record = record_of(program);
  EXPECT_EQ(record["requests"]["errored"], 1);
  EXPECT_EQ(record["requests"]["successful"], 1);
  EXPECT_EQ(record["requests"]["by_status"]["429"], 1);
}

// The conversation's next turn has the refused one once.
TEST(LoadKinds, AConversationGoesOnBehindARefusal) {
  AssayProgram program;
  BadServer server(program, "busy_twice");
  ASSERT_TRUE(write_file_atomic(program.file("talks"), "{\"turns\": [\"one\", \"two\"]}\n"));
  load(
      program, server.port(),
      {"--dataset-name", "jsonl", "--dataset-path", "talks", "--num-prompts", "2", "--retry", "5"});
  EXPECT_EQ(record_of(program)["requests"]["successful"], 2);
  const std::vector<Json> messages = messages_of(program);
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0].size(), 1U);
  EXPECT_EQ(messages[1].size(), 3U);
}

// A vocabulary of bytes, in which " of" alone among common words is one token.
std::string small_tokenizer() {
  Json vocabulary = Json::object();
  for (int byte = 0; byte < 256; ++byte)
    vocabulary[text::byte_character(static_cast<unsigned char>(byte))] = byte;
  const std::string blank = text::byte_character(' ');
  vocabulary[blank + "o"] = 256;
  vocabulary[blank + "of"] = 257;
  const Json json = {
      {"model",
       {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", {blank + " o", blank + "o f"}}}},
      {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
      {"decoder", {{"type", "ByteLevel"}}}};
  return json.dump();
}

// The server counts nothing, and prompts have the length that was asked for all the same.
TEST(LoadKinds, ATokenizerOfOurOwnCountsPrompts) {
  AssayProgram program;
  const std::string file = program.file("tokenizer.json");
  ASSERT_TRUE(write_file_atomic(file, small_tokenizer()));
  const auto tokenizer = text::Tokenizer::load(file);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  BadServer server(program, "plain");
  const Finished run = load(program, server.port(),
                            {"--num-prompts", "3", "--input-len", "41", "--tokenizer", file});
  EXPECT_EQ(run.err.find("counted in words"), std::string::npos) << run.err;
  const std::vector<std::string> prompts = prompts_of(program);
  EXPECT_EQ(prompts.size(), 3U) << run.err;
  for (const std::string& prompt : prompts) EXPECT_EQ(tokenizer->encode(prompt)->size(), 41U);
  EXPECT_EQ(load(program, server.port(), {"--tokenizer", "nothing.json"}).code(), 2);
}

// What the server does not count is counted of the joined text, not of its chunks.
TEST(LoadKinds, ATokenizerOfOurOwnCountsAnswers) {
  AssayProgram program;
  const std::string file = program.file("tokenizer.json");
  ASSERT_TRUE(write_file_atomic(file, small_tokenizer()));
  for (const auto& [mode, source, tokens] :
       {std::tuple{"no_usage", "tokenizer", 18}, std::tuple{"plain", "usage", 9}}) {
    BadServer server(program, mode);
    const Finished run =
        load(program, server.port(),
             {"--num-prompts", "3", "--dataset-name", "fixed", "--tokenizer", file});
    const Json record = record_of(program);
    EXPECT_EQ(record["tokens"]["source"], source) << run.err << run.out;
    EXPECT_EQ(record["tokens"]["out"], tokens);  // " a b c" has six bytes, each a token.
    const auto kept = load::read_kept_run(program.file("out"));
    ASSERT_TRUE(kept) << kept.error().message;
    EXPECT_EQ(load::measure(kept->runs[0], {}).output_tokens, tokens);
  }
}

// Times and lengths are the trace's; requests that share ids share text.
TEST(LoadKinds, ATraceIsReplayed) {
  AssayProgram program;
  Mock mock(program, {});
  ASSERT_TRUE(write_file_atomic(
      program.file("trace"),
      "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 3, \"hash_ids\": [1, 2]}\n"
      "{\"timestamp\": 300, \"input_length\": 600, \"output_length\": 5, \"hash_ids\": [1, 3]}\n"));
  const Finished run = load(program, mock.port(),
                            {"--dataset-name", "trace", "--dataset-path", "trace", "--ignore-eos"});
  const Json record = record_of(program);
  EXPECT_EQ(record["requests"]["successful"], 2) << run.err;
  EXPECT_EQ(record["tokens"]["out"], 8);
  const auto kept = load::read_kept_run(program.file("out"));
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->runs[0].at(1).intended_ns - kept->runs[0].at(0).intended_ns, 300'000'000);
  const std::vector<std::string> prompts = prompts_of(program);
  ASSERT_EQ(prompts.size(), 2U);
  EXPECT_EQ(prompts[0].substr(0, 1000), prompts[1].substr(0, 1000));
  EXPECT_NE(prompts[0], prompts[1]);
}

// Two slots: a third stream waits, which is the knee.
TEST(LoadKinds, ASweepMarksTheKnee) {
  AssayProgram program;
  Mock mock(program, {"--mock-ttft-ms", "40", "--mock-slots", "2"});
  const Finished sweep =
      program.run({"load", "sweep", "--base-url", url(mock.port()), "--model", "mock", "--loads",
                   "1,2,8", "--num-prompts", "24", "--output-len", "1", "--dataset-name", "fixed",
                   "--output", "sweep.json"});
  const Json json = Json::parse(read_file(program.file("sweep.json")).value_or("{}"));
  EXPECT_EQ(json["knee"], 2) << sweep.out << sweep.err;
  EXPECT_EQ(json["points"].size(), 3U);
  EXPECT_NE(sweep.out.find("knee"), std::string::npos) << sweep.out;
}

TEST(LoadKinds, ThePageOfASweepSaysWhatSpeaksAgainstIt) {
  AssayProgram program;
  Mock mock(program, {"--mock-miscount-rate", "1"});
  program.run({"load", "sweep", "--base-url", url(mock.port()), "--model", "mock", "--loads", "1,2",
               "--num-prompts", "4", "--output-len", "1", "--dataset-name", "fixed", "--html",
               "sweep.html"});
  const std::string page = read_file(program.file("sweep.html")).value_or("");
  for (const char* sentence : {"concurrency 1: 4 of 4 answers have another number of tokens",
                               "concurrency 2: 8 of 8 answers have another number of tokens"})
    EXPECT_NE(page.find(sentence), std::string::npos) << sentence;
}

// One file, without scripts and without anything of another place; names in it are only text.
TEST(LoadKinds, APageShowsTheRun) {
  AssayProgram program;
  Mock mock(program, {"--mock-itl-ms", "1", "--model", "<b>mock"});
  const Finished run =
      program.run({"load", "--base-url", url(mock.port()), "--max-concurrency", "4",
                   "--num-prompts", "30", "--output-len", "8", "--dataset-name", "fixed",
                   "--output-dir", "out", "--html", "page.html"});
  const std::string page = read_file(program.file("page.html")).value_or("");
  EXPECT_EQ(record_of(program)["requests"]["successful"], 30) << run.err;
  for (const char* id : {"figures", "ttft", "gaps", "delivered", "timeline"})
    EXPECT_NE(page.find(fmt::format("<section id=\"{}\">", id)), std::string::npos) << id;
  EXPECT_NE(page.find("30</b> successful"), std::string::npos);
  EXPECT_NE(page.find("&lt;b&gt;mock"), std::string::npos);
  for (const char* bad : {"<script", "http-equiv=\"refresh", "src=", "<b>mock", "nan", "inf%"})
    EXPECT_EQ(page.find(bad), std::string::npos) << bad;
}

// What a person sees on a terminal while it runs.
TEST(LoadKinds, AnOpenLoopIsWatchedLive) {
  AssayProgram program;
  Mock mock(program, {"--mock-ttft-ms", "20", "--mock-itl-ms", "2"});
  const std::string command = fmt::format(
      "{} load --base-url {} --model mock --request-rate 50 --arrivals constant --duration 2 "
      "--output-len 4 --dataset-name fixed --output-dir out",
      std::getenv("ASSAY_BINARY"), url(mock.port()));
  SubprocessOptions options;
  options.argv = {"script", "--quiet", "--return", "--command", command, "/dev/null"};
  options.env = {"PATH=/usr/local/bin:/usr/bin:/bin", "TERM=xterm", "COLUMNS=160"};
  options.working_directory = program.file(".");
  CommandLimits limits;
  limits.timeout_ns = static_cast<std::int64_t>(testing::kWatchdogSeconds * 1e9);
  const auto seen = run_command(options, limits);
  ASSERT_TRUE(seen) << seen.error().message;
  for (const char* word : {"of 50 req/s", "ended", "running", "TTFT", "ITL"})
    EXPECT_NE(seen->out.find(word), std::string::npos) << word << '\n' << seen->out;
}

}  // namespace
}  // namespace assay::load_tests
