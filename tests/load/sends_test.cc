// When and what is sent: ramps, a replayed trace, prefixes that are shared, pauses, and the pace of
// what waited for a slot. Times are those that were intended: a busy machine cannot change them,
// but for the times that a schedule was put off, which are counted.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "assay/base/text.h"
#include "assay/load/arrivals.h"
#include "assay/load/read_record.h"
#include "tests/load/loads.h"

namespace assay::load_tests {
namespace {

std::vector<load::Trace> traces_of(const AssayProgram& program) {
  const auto kept = load::read_kept_run(program.file("out"));
  EXPECT_TRUE(kept) << kept.error().message;
  return kept ? kept->runs.at(0) : std::vector<load::Trace>();
}

// How many gaps between intended times are not those of `at_s`.
template <class AtSeconds>
int odd_gaps(const std::vector<load::Trace>& traces, const AtSeconds& at_s) {
  int odd = 0;
  for (std::size_t i = 1; i < traces.size(); ++i) {
    const double gap = static_cast<double>(traces[i].intended_ns - traces[i - 1].intended_ns) / 1e9;
    odd += std::abs(gap - (at_s(i) - at_s(i - 1))) > 1e-6;
  }
  return odd;
}

class Ramps : public ::testing::TestWithParam<const char*> {};

// The rate changes from 20 to 200 requests/s within a second, and stays there.
TEST_P(Ramps, AreSentAtTheirTimes) {
  AssayProgram program;
  Mock mock(program, {});
  const Finished run = load(program, mock.port(),
                            {"--request-rate", "20", "--ramp-to", "200", "--ramp-seconds", "1",
                             "--ramp", GetParam(), "--arrivals", "constant", "--num-prompts", "150",
                             "--output-len", "1", "--dataset-name", "fixed"});
  const bool exponential = std::string(GetParam()) == "exponential";
  const load::ArrivalPlan plan{load::Law::constant, 20, 1, load::Ramp{200, 1, exponential}};
  // By its end a linear ramp has sent 110 requests, an exponential one 180 / ln 10.
  EXPECT_NEAR(load::expected_by(plan, 1), exponential ? 78.17 : 110, 0.01);
  const auto traces = traces_of(program);
  ASSERT_EQ(traces.size(), 150U) << run.err;
  const int odd = odd_gaps(
      traces, [&](std::size_t i) { return load::when_expected(plan, static_cast<double>(i)); });
  EXPECT_LE(odd, record_of(program)["client"]["reanchored"].get<int>());
}

INSTANTIATE_TEST_SUITE_P(LoadSends, Ramps, ::testing::Values("linear", "exponential"),
                         [](const auto& info) { return std::string(info.param); });

// Ten times as fast: what was a second apart is 100 ms apart.
TEST(LoadSends, ATraceIsReplayedFaster) {
  AssayProgram program;
  Mock mock(program, {});
  std::string lines;
  for (const int at_ms : {500, 1500, 1500, 4000})
    lines +=
        fmt::format("{{\"timestamp\": {}, \"input_length\": 9, \"output_length\": 1}}\n", at_ms);
  ASSERT_TRUE(write_file_atomic(program.file("trace"), lines));
  const Finished run =
      load(program, mock.port(),
           {"--dataset-name", "trace", "--dataset-path", "trace", "--replay-speed", "10"});
  const auto traces = traces_of(program);
  ASSERT_EQ(traces.size(), 4U) << run.err;
  const std::vector<double> at_s = {0, 0.1, 0.1, 0.35};
  EXPECT_LE(odd_gaps(traces, [&](std::size_t i) { return at_s[i]; }),
            record_of(program)["client"]["reanchored"].get<int>());
}

// A pool of three beginnings of 40 words: each prompt has one of them, and a rest of its own.
TEST(LoadSends, PromptsShareTheBeginningsOfAPool) {
  AssayProgram program;
  BadServer server(program, "plain");  // Counts nothing: a word is a token.
  load(program, server.port(),
       {"--num-prompts", "30", "--input-len", "10", "--prefix-len", "40", "--prefix-pool", "3"});
  const std::string inputs = read_file(program.file("out/inputs.jsonl")).value_or("");
  std::map<std::string, int> beginnings, rests;
  for (const std::string_view line : split(inputs, '\n')) {
    if (line.empty()) continue;
    const std::string prompt = Json::parse(line)["body"]["messages"][0]["content"];
    const auto words = split(trim(prompt), ' ');
    ASSERT_EQ(words.size(), 50U) << prompt;
    const auto places = [&](std::size_t from, std::size_t to) {
      std::string text;
      for (std::size_t i = from; i < to; ++i) text.append(words[i]) += ' ';
      return text;
    };
    ++beginnings[places(0, 40)];
    ++rests[places(40, 50)];
  }
  EXPECT_EQ(beginnings.size(), 3U);
  EXPECT_EQ(rests.size(), 30U);
}

// The user of a conversation thinks for 0.3 s after the first answer, and not at all after the
// next.
TEST(LoadSends, ATurnWaitsForItsUser) {
  AssayProgram program;
  Mock mock(program, {});
  ASSERT_TRUE(write_file_atomic(
      program.file("talks"),
      R"({"turns": ["one", {"content": "two", "think_s": 0.3}, {"content": "three"}]})"
      "\n"));
  const Finished run = load(program, mock.port(),
                            {"--dataset-name", "jsonl", "--dataset-path", "talks", "--num-prompts",
                             "3", "--output-len", "2"});
  const auto traces = traces_of(program);
  ASSERT_EQ(traces.size(), 3U) << run.err;
  EXPECT_GE(traces[1].intended_ns, traces[0].end_ns + 300'000'000);
  EXPECT_GE(traces[1].sent_ns, traces[1].intended_ns);
  EXPECT_LT(traces[2].intended_ns - traces[1].end_ns, traces[1].intended_ns - traces[0].end_ns);
}

// All four slots are free at once, each second; the queue behind them is let go at 5 requests/s,
// not in fours.
TEST(LoadSends, FreedSlotsLetNoBurstGo) {
  AssayProgram program;
  Mock mock(program, {"--mock-ttft-ms", "1000"});
  const Finished run =
      load(program, mock.port(),
           {"--request-rate", "5", "--arrivals", "constant", "--max-concurrency", "4",
            "--num-prompts", "16", "--output-len", "1", "--dataset-name", "fixed"});
  auto traces = traces_of(program);
  ASSERT_EQ(traces.size(), 16U) << run.err;
  EXPECT_GE(std::ranges::count_if(traces, &load::Trace::queued), 2) << run.out;
  std::ranges::sort(traces, {}, &load::Trace::sent_ns);
  for (std::size_t i = 3; i < traces.size(); ++i)
    if (traces[i].queued && traces[i - 1].queued && traces[i - 2].queued)
      EXPECT_GE(traces[i].sent_ns - traces[i - 3].sent_ns, 300'000'000) << i;
}

// The time to get ready is one for all that is asked: /health takes most of it, and what /models
// would take is more than is left.
TEST(LoadSends, ServersGetReadyInTimeOrNotAtAll) {
  AssayProgram program;
  BadServer server(program, "slowly_ready");
  const auto ended_with = [&](const char* seconds) {
    return load(program, server.port(),
                {"--num-prompts", "1", "--dataset-name", "fixed", "--ready-check-timeout-sec",
                 seconds})
        .code();
  };
  EXPECT_EQ(ended_with("1"), 4);
  // The code is 1 where a busy machine sends the one request late.
  const int in_time = ended_with("60");
  EXPECT_TRUE(in_time == 0 || in_time == 1) << in_time;
  EXPECT_EQ(traces_of(program).size(), 1U);
}

}  // namespace
}  // namespace assay::load_tests
