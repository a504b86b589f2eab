#pragma once

// From what happened to requests to the figures of a run. Every latency is of successful requests
// alone; docs/load.md has the definitions.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/load/summary.h"
#include "assay/load/trace.h"

namespace assay::load {

// The latencies of one request in ms; none where it has none.
struct Latencies {
  std::optional<double> ttft_ms;  // First token - sent.
  std::optional<double> ttfo_ms;  // First token that is no reasoning - sent.
  std::optional<double> ttst_ms;  // Second event with tokens - first.
  std::optional<double> tpot_ms;  // (e2e - ttft) / (tokens - 1).
  std::optional<double> tpot_incl_first_ms;
  std::optional<double> e2e_ms;             // Last token - sent; of a whole answer, its end.
  std::optional<double> e2e_stream_end_ms;  // The answer's last byte - sent.
  double client_queue_ms = 0;               // Sent - intended.
  std::optional<double> e2e_incl_queue_ms;
};
Latencies latencies_of(const Trace& trace);

// What a request must keep to be good: "ttft:200" in ms, on the names of vLLM.
struct Objective {
  std::string metric;  // A key of a distribution: "ttft_ms".
  double most_ms = 0;
};
Result<Objective> parse_objective(std::string_view text);
bool is_good(const Trace& trace, std::span<const Objective> objectives);

struct Metrics {
  std::vector<std::pair<std::string, Summary>> distributions;  // Only those that have values.
  std::vector<std::pair<std::string, double>> values;          // Of the run as a whole.
  double duration_s = 0;  // From the first dispatch to the last completion.
  std::int64_t successful = 0, incomplete = 0, errored = 0, cancelled = 0;
  std::int64_t retried = 0;                             // That were sent more than once.
  std::vector<std::pair<int, std::int64_t>> by_status;  // 0: no answer.
  // What went wrong with errored requests, and how often; the most frequent first.
  std::vector<std::pair<std::string, std::int64_t>> errors;
  std::int64_t input_tokens = 0, output_tokens = 0;
  // "usage", "tokenizer", "chunks", "mixed"; empty where nothing was counted.
  std::string token_source;
  std::int64_t mismatched = 0;     // Successful requests with another number of tokens than asked.
  std::int64_t unlike_chunks = 0;  // Whose usage counts fewer tokens than chunks that came.

  const Summary* distribution(std::string_view key) const;
  std::optional<double> value(std::string_view key) const;
  // "ttft_ms.p95", "output_throughput_tok_s", "requests.errored", "duration_s".
  std::optional<double> find(std::string_view name) const;
};

// Percentiles that distributions have beside those of every Summary.
struct Percentiles {
  std::vector<double> percents;
  std::vector<std::string> keys;  // Of which distributions; empty: of all.
};

Metrics measure(std::span<const Trace> traces, std::span<const Objective> objectives,
                const Percentiles& percentiles = {});

// "ttft_ms.p95<200": a figure of a run and a bound; <, <=, >, >=.
struct Requirement {
  std::string text, metric;
  bool less = true, or_equal = false;
  double bound = 0;

  bool holds(double value) const;
};
// percentiles: those that the run will have beside the usual ones.
Result<Requirement> parse_requirement(std::string_view text, const Percentiles& percentiles = {});

// Intervals [start, end) of sent requests, as steps of how many there were.
struct Step {
  std::int64_t at_ns = 0;
  int running = 0;  // From then on.
};
std::vector<Step> concurrency_steps(std::span<const Trace> traces);

}  // namespace assay::load
