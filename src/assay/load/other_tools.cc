#include "assay/load/other_tools.h"

#include <array>
#include <functional>

#include "assay/base/clock.h"

namespace assay::load {
namespace {

using Values = std::vector<double>;
using Latency = std::function<std::optional<double>(const Trace&, const Latencies&)>;

Values values_of(std::span<const Trace> traces, const Latency& latency) {
  Values values;
  for (const Trace& trace : traces)
    if (trace.is_success())
      if (const auto value = latency(trace, latencies_of(trace))) values.push_back(*value);
  return values;
}

std::optional<Summary> gaps_of(const Metrics& metrics) {
  const Summary* gaps = metrics.distribution("itl_gap_ms");
  return gaps ? std::optional(*gaps) : std::nullopt;
}

Json vllm(std::span<const Trace> traces, const Metrics& metrics) {
  Json json = {{"duration", metrics.duration_s},
               {"completed", metrics.successful},
               {"failed", metrics.errored},
               {"total_input_tokens", metrics.input_tokens},
               {"total_output_tokens", metrics.output_tokens},
               {"request_throughput", metrics.value("request_throughput").value_or(0)},
               {"output_throughput", metrics.value("output_throughput_tok_s").value_or(0)},
               {"total_token_throughput", metrics.value("total_throughput_tok_s").value_or(0)},
               {"max_output_tokens_per_s", metrics.value("peak_output_tok_s").value_or(0)},
               {"max_concurrent_requests", metrics.value("peak_concurrency").value_or(0)}};
  const auto add = [&](const std::string& name, const std::optional<Summary>& summary) {
    if (!summary) return;
    json["mean_" + name + "_ms"] = summary->mean;
    json["median_" + name + "_ms"] = summary->median;
    json["std_" + name + "_ms"] = summary->std;
    json["p99_" + name + "_ms"] = summary->p99;
  };
  add("ttft", summarise(values_of(traces, [](auto&, auto& all) { return all.ttft_ms; })));
  add("tpot", summarise(values_of(traces, [](auto&, auto& all) { return all.tpot_ms; })));
  add("itl", gaps_of(metrics));
  add("e2el", summarise(values_of(traces, [](auto&, auto& all) { return all.e2e_ms; })));
  return json;
}

Json aiperf_metric(const std::optional<Summary>& summary, const char* unit) {
  if (!summary) return nullptr;
  return {{"unit", unit},        {"avg", summary->mean}, {"p50", summary->median},
          {"p90", summary->p90}, {"p95", summary->p95},  {"p99", summary->p99},
          {"min", summary->min}, {"max", summary->max},  {"std", summary->std}};
}

Json aiperf(std::span<const Trace> traces, const Metrics& metrics) {
  const auto of = [&](const Latency& latency) {
    return aiperf_metric(summarise(values_of(traces, latency)), "ms");
  };
  const auto average = [&](const char* key, const char* unit) {
    return Json{{"unit", unit}, {"avg", metrics.value(key).value_or(0)}};
  };
  return {{"request_count", {{"unit", "requests"}, {"avg", metrics.successful}}},
          {"request_throughput", average("request_throughput", "requests/sec")},
          {"output_token_throughput", average("output_throughput_tok_s", "tokens/sec")},
          {"time_to_first_token", of([](auto&, auto& all) { return all.ttft_ms; })},
          {"time_to_second_token", of([](auto&, auto& all) { return all.ttst_ms; })},
          // AIPerf calls the time per further token so.
          {"inter_token_latency", of([](auto&, auto& all) { return all.tpot_ms; })},
          {"inter_chunk_latency", aiperf_metric(gaps_of(metrics), "ms")},
          {"request_latency", of([](auto&, auto& all) { return all.e2e_ms; })}};
}

Json guidellm_metric(const std::optional<Summary>& summary) {
  if (!summary) return nullptr;
  return {{"successful",
           {{"count", summary->n},
            {"mean", summary->mean},
            {"median", summary->median},
            {"std_dev", summary->std},
            {"min", summary->min},
            {"max", summary->max},
            {"percentiles",
             {{"p50", summary->median},
              {"p90", summary->p90},
              {"p95", summary->p95},
              {"p99", summary->p99}}}}}};
}

Json guidellm(std::span<const Trace> traces, const Metrics& metrics) {
  const auto of = [&](const Latency& latency) {
    return guidellm_metric(summarise(values_of(traces, latency)));
  };
  const auto last_minus_first = [](const Trace& trace, const Latencies&) -> std::optional<double> {
    const std::int64_t tokens = trace.output_tokens();
    if (trace.first_token() == nullptr || tokens < 2) return std::nullopt;
    return static_cast<double>(trace.last_token()->at_ns - trace.first_token()->at_ns) / kNsPerMs /
           static_cast<double>(tokens - 1);
  };
  const auto to_end_s = [](const Trace&, const Latencies& all) -> std::optional<double> {
    if (!all.e2e_stream_end_ms) return std::nullopt;
    return *all.e2e_stream_end_ms / 1000;
  };
  return {
      {"metrics",
       {{"request_totals",
         {{"successful", metrics.successful},
          {"incomplete", metrics.incomplete},
          {"errored", metrics.errored}}},
        {"time_to_first_token_ms", of([](auto&, auto& all) { return all.ttft_ms; })},
        {"inter_token_latency_ms", of(last_minus_first)},
        {"time_per_output_token_ms", of([](auto&, auto& all) { return all.tpot_incl_first_ms; })},
        {"request_latency", of(to_end_s)}}}};
}

}  // namespace

Json as_other_tool(OtherTool tool, std::span<const Trace> traces) {
  const Metrics metrics = measure(traces, {});
  if (tool == OtherTool::vllm) return vllm(traces, metrics);
  return tool == OtherTool::aiperf ? aiperf(traces, metrics) : guidellm(traces, metrics);
}

}  // namespace assay::load
