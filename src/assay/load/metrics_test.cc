#include "assay/load/metrics.h"

#include <cmath>

#include <gtest/gtest.h>

#include "assay/base/clock.h"
#include "assay/load/result.h"

namespace assay::load {
namespace {

constexpr std::int64_t kOrigin = 1000 * kNsPerSecond;

std::int64_t at_ms(double ms) { return kOrigin + static_cast<std::int64_t>(ms * kNsPerMs); }

// Intended at 0, sent at 10 ms, a role at 30 ms, then tokens at these times.
Trace success(const std::vector<double>& token_ms, std::int64_t usage) {
  Trace trace;
  trace.intended_ns = trace.handled_ns = at_ms(0);
  trace.sent_ns = at_ms(10);
  trace.first_byte_ns = at_ms(30);
  trace.events.push_back({at_ms(30), 0, EventKind::other});
  for (const double ms : token_ms) trace.events.push_back({at_ms(ms), 0, EventKind::content});
  trace.chunks = static_cast<std::int64_t>(token_ms.size());
  trace.end_ns = at_ms(token_ms.back() + 5);
  trace.ending = Ending::successful;
  trace.status = 200;
  if (usage > 0) trace.usage = Usage{7, usage, 0, 0};
  return trace;
}

// A chunk of two tokens: gaps are between chunks, the time per token is by the usage.
TEST(Metrics, DefinitionsOfOneRequest) {
  const Latencies all = latencies_of(success({110, 120, 150}, 4));
  EXPECT_DOUBLE_EQ(*all.ttft_ms, 100);
  EXPECT_DOUBLE_EQ(*all.ttst_ms, 10);
  EXPECT_DOUBLE_EQ(*all.e2e_ms, 140);
  EXPECT_DOUBLE_EQ(*all.e2e_stream_end_ms, 145);
  EXPECT_DOUBLE_EQ(all.client_queue_ms, 10);
  EXPECT_DOUBLE_EQ(*all.e2e_incl_queue_ms, 150);
  EXPECT_DOUBLE_EQ(*all.tpot_ms, 40.0 / 3);
  EXPECT_DOUBLE_EQ(*all.tpot_incl_first_ms, 35);
}

TEST(Metrics, ReasoningCountsForTheFirstTokenAlone) {
  Trace trace = success({110, 120, 150}, 3);
  trace.events[1].kind = EventKind::reasoning;
  EXPECT_DOUBLE_EQ(*latencies_of(trace).ttft_ms, 100);
  EXPECT_DOUBLE_EQ(*latencies_of(trace).ttfo_ms, 110);
}

TEST(Metrics, FailedRequestsHaveCountsAndNoLatencies) {
  std::vector<Trace> traces = {success({110, 120}, 2), success({110, 120}, 2)};
  traces[1].ending = Ending::errored;
  traces[1].events[1].at_ns = at_ms(9000);
  traces[1].error = "500 it fell over";
  traces.insert(traces.end(), 2, traces[1]);
  traces[2].error = traces[3].error = "429 not now";
  const Metrics metrics = measure(traces, {});
  EXPECT_EQ(metrics.successful, 1);
  EXPECT_EQ(metrics.errored, 3);
  EXPECT_EQ(metrics.distribution("ttft_ms")->n, 1);
  EXPECT_EQ(*metrics.find("requests.errored"), 3);
  using Error = std::pair<std::string, std::int64_t>;
  EXPECT_EQ(metrics.errors, (std::vector<Error>{{"429 not now", 2}, {"500 it fell over", 1}}));
}

// Two choices whose chunks come by turns: no gap is taken across them.
TEST(Metrics, GapsOfChoicesAreKeptApart) {
  Trace trace = success({110, 115, 130, 135}, 4);
  trace.events[2].choice = trace.events[4].choice = 1;
  const Metrics metrics = measure(std::vector{trace}, {});
  EXPECT_EQ(metrics.distribution("itl_gap_ms")->n, 2);
  EXPECT_DOUBLE_EQ(metrics.distribution("itl_gap_ms")->min, 20);
}

TEST(Metrics, TokensAreTheServersElseChunks) {
  EXPECT_EQ(measure(std::vector{success({110, 120}, 5)}, {}).token_source, "usage");
  const std::vector mixed = {success({110, 120}, 5), success({110, 120}, 0)};
  const Metrics metrics = measure(mixed, {});
  EXPECT_EQ(metrics.token_source, "mixed");
  EXPECT_EQ(metrics.output_tokens, 7);
  Trace lies = success({110, 120, 130}, 2);
  lies.asked_output = 3;
  const Metrics told = measure(std::vector{lies}, {});
  EXPECT_EQ(told.mismatched, 1);
  EXPECT_EQ(told.unlike_chunks, 1);
  Trace inflates = success({110, 120, 130}, 9);
  inflates.most_output = 8;
  EXPECT_EQ(measure(std::vector{inflates}, {}).mismatched, 1);
  inflates.most_output = 9;
  EXPECT_EQ(measure(std::vector{inflates}, {}).mismatched, 0);
}

TEST(Metrics, QuantilesAreInterpolated) {
  const Summary summary = *summarise({4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(summary.median, 2.5);
  EXPECT_DOUBLE_EQ(summary.p90, 3.7);
  EXPECT_DOUBLE_EQ(summary.std, std::sqrt(1.25));
  EXPECT_TRUE(summary.is_thin("median"));
}

TEST(Metrics, GoodputNeedsEveryObjective) {
  const std::vector objectives = {*parse_objective("ttft:100"), *parse_objective("e2el:139")};
  EXPECT_FALSE(is_good(success({110, 120, 150}, 3), objectives));
  EXPECT_TRUE(is_good(success({110, 120, 149}, 3), objectives));
  EXPECT_FALSE(parse_objective("ttft"));
  EXPECT_FALSE(parse_objective("tfft:3"));
}

TEST(Metrics, Requirements) {
  const Requirement below = *parse_requirement("ttft_ms.p95<200");
  EXPECT_EQ(below.metric, "ttft_ms.p95");
  EXPECT_TRUE(below.holds(199) && !below.holds(200));
  EXPECT_TRUE(parse_requirement("requests.errored<=0")->holds(0));
  for (const char* wrong : {"ttft_ms.p95", "<3", "ttft_ms.p96<3", "ttft_ms.p95<x", "tfft_ms.p95<3",
                            "ttft_ms<3", "throughput>3", "requests.lost<3", "tokens.p95<3"})
    EXPECT_FALSE(parse_requirement(wrong)) << wrong;
  EXPECT_TRUE(parse_requirement("ttft_ms.p99.9<3", {{99.9}, {}}));
  EXPECT_NE(parse_requirement("tfft_ms.p95<3").error().message.find("'ttft_ms'"),
            std::string::npos);
}

// Whatever a run measures may be required of it.
TEST(Metrics, EveryFigureMayBeRequired) {
  Trace trace = success({110, 120, 150}, 3);
  trace.connect_ns = 5;
  const Metrics metrics = measure(std::vector{trace}, std::vector{*parse_objective("ttft:100")});
  EXPECT_EQ(metrics.distributions.size(), 13u);
  for (const auto& [key, summary] : metrics.distributions)
    EXPECT_TRUE(parse_requirement(key + ".p95<3")) << key;
  for (const auto& [key, value] : metrics.values) EXPECT_TRUE(parse_requirement(key + "<3")) << key;
}

TEST(Metrics, IntervalsDoNotHoldTheirEnds) {
  std::vector<Trace> traces(2);
  traces[0].sent_ns = 10;
  traces[0].end_ns = traces[1].sent_ns = 20;
  traces[1].end_ns = 30;
  for (const Step& step : concurrency_steps(traces)) EXPECT_LE(step.running, 1);
}

TEST(Metrics, ATraceIsReadAsItWasWritten) {
  Trace trace = success({110, 120.25}, 2);
  trace.request_id = "a-1";
  trace.error = "x";
  const JsonDocument document = *parse_json_document(trace_line(trace, kOrigin), "line");
  const Trace read = *read_trace(JsonField(document));
  EXPECT_EQ(latencies_of(read).ttft_ms, latencies_of(trace).ttft_ms);
  EXPECT_EQ(trace_line(read, read.intended_ns), trace_line(trace, trace.intended_ns));
}

}  // namespace
}  // namespace assay::load
