#include "assay/serve/metrics.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "assay/serve/utf8.h"

namespace assay::serve {
namespace {

void append_value(std::string& out, std::string_view name, std::string_view type,
                  std::string_view labels, std::int64_t value) {
  fmt::format_to(std::back_inserter(out), "# TYPE {} {}\n{}{{{}}} {}\n", name, type, name, labels,
                 value);
}

}  // namespace

void Histogram::add(double seconds) {
  const auto bound = std::ranges::lower_bound(kBounds, seconds);
  if (bound != kBounds.end()) ++counts_[static_cast<std::size_t>(bound - kBounds.begin())];
  ++count_;
  sum_ += seconds;
}

void Histogram::append(std::string& out, std::string_view name, std::string_view labels) const {
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "# TYPE {} histogram\n", name);
  std::int64_t below = 0;
  for (std::size_t i = 0; i < kBounds.size(); ++i)
    fmt::format_to(to, "{}_bucket{{{},le=\"{}\"}} {}\n", name, labels, kBounds[i],
                   below += counts_[i]);
  fmt::format_to(to, "{}_bucket{{{},le=\"+Inf\"}} {}\n{}_sum{{{}}} {}\n{}_count{{{}}} {}\n", name,
                 labels, count_, name, labels, sum_, name, labels, count_);
}

std::string Metrics::text(std::string_view model, const Load& load) const {
  const std::string labels = "model_name=" + json_text(model);
  std::string out;
  append_value(out, "vllm:num_requests_running", "gauge", labels, load.running);
  append_value(out, "vllm:num_requests_waiting", "gauge", labels, load.waiting);
  append_value(out, "vllm:prompt_tokens_total", "counter", labels, usage.prompt);
  append_value(out, "vllm:generation_tokens_total", "counter", labels, usage.completion);
  out += "# TYPE vllm:request_success_total counter\n";
  for (const auto& [ending, count] : endings)
    fmt::format_to(std::back_inserter(out),
                   "vllm:request_success_total{{{},finished_reason=\"{}\"}} {}\n", labels, ending,
                   count);
  first_token.append(out, "vllm:time_to_first_token_seconds", labels);
  between_tokens.append(out, "vllm:time_per_output_token_seconds", labels);
  whole.append(out, "vllm:e2e_request_latency_seconds", labels);
  return out;
}

net::Response metrics_response(std::string text) {
  return {200, {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, std::move(text)};
}

}  // namespace assay::serve
