#include "assay/load/metrics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "assay/base/clock.h"
#include "assay/base/text.h"

namespace assay::load {
namespace {

constexpr double kMsPerNs = 1e-6;

double ms(std::int64_t ns) { return static_cast<double>(ns) * kMsPerNs; }

// What vLLM's --goodput calls them, and what we do.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kObjectives = {{
    {"ttft", "ttft_ms"},
    {"tpot", "tpot_ms"},
    {"e2el", "e2e_ms"},
    {"ttft_ms", "ttft_ms"},
    {"tpot_ms", "tpot_ms"},
    {"e2e_ms", "e2e_ms"},
    {"e2e_incl_queue_ms", "e2e_incl_queue_ms"},
}};

Result<double> read_bound(std::string_view text, std::string_view whole) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || read != end || !std::isfinite(value))
    return fail(ErrorCode::invalid_input, "'{}': '{}' is no number", sanitize(whole, 100),
                sanitize(text, 40));
  return value;
}

constexpr std::array<std::string_view, 13> kDistributions = {
    "ttft_ms",
    "ttfo_ms",
    "ttst_ms",
    "tpot_ms",
    "tpot_incl_first_ms",
    "itl_gap_ms",
    "e2e_ms",
    "e2e_stream_end_ms",
    "e2e_incl_queue_ms",
    "client_queue_ms",
    "connect_ms",
    "per_user_throughput_tok_s",
    "prefill_throughput_tok_s",
};
constexpr std::array<std::string_view, 14> kFigures = {
    "request_throughput",     "output_throughput_tok_s",
    "total_throughput_tok_s", "peak_output_tok_s",
    "peak_concurrency",       "goodput_req_s",
    "goodput_share",          "duration_s",
    "requests.successful",    "requests.incomplete",
    "requests.errored",       "requests.cancelled",
    "requests.retried",       "tokens.mismatch",
};

// What no run could have is a slip of the user's, not a requirement that failed.
Status check_figure(std::string_view name, const Percentiles& percentiles, std::string_view whole) {
  if (std::ranges::find(kFigures, name) != kFigures.end()) return {};
  const std::size_t dot = name.find('.');
  const std::string_view key = name.substr(0, dot);
  if (std::ranges::find(kDistributions, key) == kDistributions.end()) {
    std::string meant = did_you_mean(name, kFigures);
    if (meant.empty()) meant = did_you_mean(key, kDistributions);
    return fail(ErrorCode::invalid_input, "'{}': a run has no figure '{}'{}", sanitize(whole, 100),
                sanitize(name, 60), meant);
  }
  const std::string_view word = dot == std::string_view::npos ? "" : name.substr(dot + 1);
  const auto is_word = [&](double percent) { return fmt::format("p{:g}", percent) == word; };
  if (Summary().find(word) || std::ranges::any_of(percentiles.percents, is_word)) return {};
  return fail(ErrorCode::invalid_input,
              "'{}': a statistic is mean, median, std, min, max, p90, p95 or p99, or one of "
              "--metric-percentiles",
              sanitize(whole, 100));
}

// Gaps between one choice's events with tokens.
void add_gaps(const Trace& trace, std::vector<double>& gaps) {
  std::map<std::int16_t, std::int64_t> last;
  for (const StreamEvent& event : trace.events) {
    if (event.kind == EventKind::other) continue;
    const auto [found, is_first] = last.emplace(event.choice, event.at_ns);
    if (!is_first) gaps.push_back(ms(event.at_ns - std::exchange(found->second, event.at_ns)));
  }
}

// The most tokens in any second, counted in whole seconds from the first dispatch: a request's
// tokens spread evenly over its events.
double peak_output(std::span<const Trace> traces, std::int64_t from_ns) {
  std::map<std::int64_t, double> buckets;
  for (const Trace& trace : traces) {
    if (!trace.is_success()) continue;
    const auto tokens = static_cast<double>(trace.output_tokens());
    if (trace.chunks == 0) {
      buckets[(trace.end_ns - from_ns) / kNsPerSecond] += tokens;
      continue;
    }
    const double each = tokens / static_cast<double>(trace.chunks);
    for (const StreamEvent& event : trace.events)
      if (event.kind != EventKind::other) buckets[(event.at_ns - from_ns) / kNsPerSecond] += each;
  }
  double most = 0;
  for (const auto& [second, tokens] : buckets) most = std::max(most, tokens);
  return most;
}

// All of one run's latencies, by their keys.
class Distributions {
 public:
  void add(const char* key, std::optional<double> value) {
    if (value) of(key).push_back(*value);
  }
  std::vector<double>& of(const char* key) {
    for (auto& [name, values] : all_)
      if (name == key) return values;
    return all_.emplace_back(key, std::vector<double>()).second;
  }
  std::vector<std::pair<std::string, Summary>> take(const Percentiles& percentiles) {
    std::vector<std::pair<std::string, Summary>> summaries;
    for (auto& [name, values] : all_) {
      const bool more = percentiles.keys.empty() ||
                        std::ranges::find(percentiles.keys, name) != percentiles.keys.end();
      const std::span<const double> percents(percentiles.percents);
      auto summary = summarise(std::move(values), more ? percents : std::span<const double>());
      if (summary) summaries.emplace_back(name, std::move(*summary));
    }
    return summaries;
  }

 private:
  std::vector<std::pair<std::string, std::vector<double>>> all_;
};

void add_latencies(const Trace& trace, Distributions& all) {
  const Latencies latencies = latencies_of(trace);
  all.add("ttft_ms", latencies.ttft_ms);
  all.add("ttfo_ms", latencies.ttfo_ms);
  all.add("ttst_ms", latencies.ttst_ms);
  all.add("tpot_ms", latencies.tpot_ms);
  all.add("tpot_incl_first_ms", latencies.tpot_incl_first_ms);
  add_gaps(trace, all.of("itl_gap_ms"));
  all.add("e2e_ms", latencies.e2e_ms);
  all.add("e2e_stream_end_ms", latencies.e2e_stream_end_ms);
  all.add("e2e_incl_queue_ms", latencies.e2e_incl_queue_ms);
  all.add("client_queue_ms", latencies.client_queue_ms);
  all.add("connect_ms", ms(trace.connect_ns));
  if (latencies.tpot_ms && *latencies.tpot_ms > 0)
    all.add("per_user_throughput_tok_s", 1000 / *latencies.tpot_ms);
  if (latencies.ttft_ms && *latencies.ttft_ms > 0 && trace.usage && trace.usage->prompt > 0)
    all.add("prefill_throughput_tok_s",
            1000 * static_cast<double>(trace.usage->prompt) / *latencies.ttft_ms);
}

void count_tokens(const Trace& trace, Metrics& metrics) {
  const std::int64_t tokens = trace.output_tokens();
  metrics.output_tokens += tokens;
  metrics.input_tokens += trace.usage ? trace.usage->prompt : trace.asked_input;
  if ((trace.asked_output > 0 && tokens != trace.asked_output) ||
      (trace.most_output > 0 && tokens > trace.most_output))
    ++metrics.mismatched;
  if (trace.usage && trace.usage->completion < trace.chunks) ++metrics.unlike_chunks;
  const std::string source = trace.usage        ? "usage"
                             : trace.tokenized  ? "tokenizer"
                             : trace.chunks > 0 ? "chunks"
                                                : "";
  if (metrics.token_source.empty()) metrics.token_source = source;
  if (!source.empty() && metrics.token_source != source) metrics.token_source = "mixed";
}

void count_ending(const Trace& trace, Metrics& metrics) {
  metrics.retried += trace.retries > 0;
  switch (trace.ending) {
    case Ending::successful:
      ++metrics.successful;
      break;
    case Ending::incomplete:
      ++metrics.incomplete;
      break;
    case Ending::errored:
      ++metrics.errored;
      break;
    case Ending::cancelled:
      ++metrics.cancelled;
      break;
  }
}

}  // namespace

Latencies latencies_of(const Trace& trace) {
  Latencies all;
  if (!trace.was_sent()) return all;
  all.client_queue_ms = ms(trace.sent_ns - trace.intended_ns);
  const StreamEvent* first = trace.first_token();
  const StreamEvent* last = trace.last_token();
  const std::int64_t end_ns = last ? last->at_ns : trace.end_ns;
  all.e2e_ms = ms(end_ns - trace.sent_ns);
  all.e2e_stream_end_ms = ms(trace.end_ns - trace.sent_ns);
  all.e2e_incl_queue_ms = *all.e2e_ms + all.client_queue_ms;
  const auto tokens = static_cast<double>(trace.output_tokens());
  if (tokens > 0) all.tpot_incl_first_ms = *all.e2e_ms / tokens;
  if (first == nullptr) return all;
  all.ttft_ms = ms(first->at_ns - trace.sent_ns);
  if (tokens > 1) all.tpot_ms = (*all.e2e_ms - *all.ttft_ms) / (tokens - 1);
  int seen = 0;
  for (const StreamEvent& event : trace.events) {
    if (event.kind == EventKind::content && !all.ttfo_ms)
      all.ttfo_ms = ms(event.at_ns - trace.sent_ns);
    if (event.kind != EventKind::other && ++seen == 2) all.ttst_ms = ms(event.at_ns - first->at_ns);
  }
  return all;
}

Result<Objective> parse_objective(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto* known =
      std::ranges::find(kObjectives, name, &std::pair<std::string_view, std::string_view>::first);
  if (colon == std::string_view::npos || known == kObjectives.end())
    return fail(ErrorCode::invalid_input,
                "--goodput {}: write ttft:200, tpot:20 or e2el:3000, in ms", sanitize(text, 100));
  ASSAY_TRY(const double most, read_bound(text.substr(colon + 1), text));
  return Objective{std::string(known->second), most};
}

bool is_good(const Trace& trace, std::span<const Objective> objectives) {
  if (!trace.is_success()) return false;
  const Latencies all = latencies_of(trace);
  return std::ranges::all_of(objectives, [&](const Objective& objective) {
    // One token has no time per further token: as vLLM, it counts as 0.
    const std::optional<double> value = objective.metric == "ttft_ms"   ? all.ttft_ms
                                        : objective.metric == "tpot_ms" ? all.tpot_ms.value_or(0)
                                        : objective.metric == "e2e_ms"  ? all.e2e_ms
                                                                        : all.e2e_incl_queue_ms;
    return value && *value <= objective.most_ms;
  });
}

std::vector<Step> concurrency_steps(std::span<const Trace> traces) {
  std::vector<std::pair<std::int64_t, int>> changes;
  for (const Trace& trace : traces) {
    if (!trace.was_sent()) continue;
    changes.emplace_back(trace.sent_ns, 1);
    changes.emplace_back(std::max(trace.end_ns, trace.sent_ns), -1);
  }
  // Of one moment the ends come first: intervals do not hold their ends.
  std::ranges::sort(changes);
  std::vector<Step> steps;
  int running = 0;
  for (const auto& [at_ns, change] : changes) {
    running += change;
    if (!steps.empty() && steps.back().at_ns == at_ns)
      steps.back().running = running;
    else
      steps.push_back({at_ns, running});
  }
  return steps;
}

Metrics measure(std::span<const Trace> traces, std::span<const Objective> objectives,
                const Percentiles& percentiles) {
  Metrics metrics;
  Distributions all;
  std::map<int, std::int64_t> by_status;
  std::int64_t from_ns = 0, until_ns = 0, good = 0;
  std::map<std::string, std::int64_t> errors;
  for (const Trace& trace : traces) {
    count_ending(trace, metrics);
    ++by_status[trace.status];
    if (trace.ending == Ending::errored) ++errors[trace.error];
    if (trace.was_sent()) {
      from_ns = from_ns == 0 ? trace.sent_ns : std::min(from_ns, trace.sent_ns);
      until_ns = std::max(until_ns, trace.end_ns);
    }
    if (!trace.is_success()) continue;
    add_latencies(trace, all);
    count_tokens(trace, metrics);
    good += is_good(trace, objectives);
  }
  metrics.by_status.assign(by_status.begin(), by_status.end());
  metrics.errors.assign(errors.begin(), errors.end());
  std::ranges::stable_sort(metrics.errors, std::ranges::greater{},
                           &std::pair<std::string, std::int64_t>::second);
  metrics.distributions = all.take(percentiles);
  metrics.duration_s = static_cast<double>(until_ns - from_ns) / kNsPerSecond;
  if (metrics.duration_s <= 0) return metrics;
  const auto rate = [&](std::int64_t count) {
    return static_cast<double>(count) / metrics.duration_s;
  };
  metrics.values = {
      {"request_throughput", rate(metrics.successful)},
      {"output_throughput_tok_s", rate(metrics.output_tokens)},
      {"total_throughput_tok_s", rate(metrics.input_tokens + metrics.output_tokens)},
      {"peak_output_tok_s", peak_output(traces, from_ns)},
  };
  int most = 0;
  for (const Step& step : concurrency_steps(traces)) most = std::max(most, step.running);
  metrics.values.emplace_back("peak_concurrency", most);
  if (!objectives.empty()) {
    metrics.values.emplace_back("goodput_req_s", rate(good));
    metrics.values.emplace_back("goodput_share",
                                static_cast<double>(good) / static_cast<double>(traces.size()));
  }
  return metrics;
}

const Summary* Metrics::distribution(std::string_view key) const {
  for (const auto& [name, summary] : distributions)
    if (name == key) return &summary;
  return nullptr;
}

std::optional<double> Metrics::value(std::string_view key) const {
  for (const auto& [name, value] : values)
    if (name == key) return value;
  return std::nullopt;
}

std::optional<double> Metrics::find(std::string_view name) const {
  if (name == "duration_s") return duration_s;
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return value(name);
  const std::string_view key = name.substr(0, dot), statistic = name.substr(dot + 1);
  if (key == "requests") {
    const std::array<std::pair<std::string_view, std::int64_t>, 5> counts = {
        {{"successful", successful},
         {"incomplete", incomplete},
         {"errored", errored},
         {"cancelled", cancelled},
         {"retried", retried}}};
    for (const auto& [word, count] : counts)
      if (word == statistic) return static_cast<double>(count);
    return std::nullopt;
  }
  if (key == "tokens" && statistic == "mismatch") return static_cast<double>(mismatched);
  const Summary* summary = distribution(key);
  return summary ? summary->find(statistic) : std::nullopt;
}

bool Requirement::holds(double value) const {
  if (or_equal && value == bound) return true;
  return less ? value < bound : value > bound;
}

Result<Requirement> parse_requirement(std::string_view text, const Percentiles& percentiles) {
  const std::size_t at = text.find_first_of("<>");
  if (at == std::string_view::npos || at == 0)
    return fail(ErrorCode::invalid_input,
                "'{}': write a figure and a bound, such as ttft_ms.p95<200", sanitize(text, 100));
  Requirement requirement;
  requirement.text = sanitize(text, 100);
  requirement.metric = trim(text.substr(0, at));
  requirement.less = text[at] == '<';
  std::string_view rest = text.substr(at + 1);
  requirement.or_equal = rest.starts_with('=');
  if (requirement.or_equal) rest.remove_prefix(1);
  ASSAY_TRY(requirement.bound, read_bound(trim(rest), text));
  ASSAY_TRY(check_figure(requirement.metric, percentiles, text));
  return requirement;
}

}  // namespace assay::load
