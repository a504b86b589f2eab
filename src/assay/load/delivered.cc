#include "assay/load/delivered.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/base/clock.h"
#include "assay/base/counted.h"
#include "assay/load/metrics.h"

namespace assay::load {
namespace {

double seconds(std::int64_t ns) { return static_cast<double>(ns) / kNsPerSecond; }

// Arrivals are what a schedule has; further turns of a conversation follow answers.
std::vector<const Trace*> arrivals_of(std::span<const Trace> traces) {
  std::vector<const Trace*> arrivals;
  for (const Trace& trace : traces)
    if (trace.turn == 0) arrivals.push_back(&trace);
  return arrivals;
}

void judge_rate(std::span<const Trace> traces, double shifted_s, Delivered& delivered) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
  std::int64_t first_due = first, last_due = 0, sent = 0, due = 0;
  for (const Trace* trace : arrivals_of(traces)) {
    ++due;
    first_due = std::min(first_due, trace->intended_ns);
    last_due = std::max(last_due, trace->intended_ns);
    if (!trace->was_sent()) continue;
    ++sent;
    first = std::min(first, trace->sent_ns);
    last = std::max(last, trace->sent_ns);
  }
  const double due_s = seconds(last_due - first_due) - shifted_s;
  if (sent < 2 || due_s <= 0 || last <= first) return;
  delivered.rate = static_cast<double>(sent - 1) / seconds(last - first);
  delivered.rate_asked = static_cast<double>(due - 1) / due_s;
  // Of few requests a millisecond is more than a hundredth.
  const double apart = std::abs(seconds(last - first) - due_s);
  const bool far = std::abs(*delivered.rate / *delivered.rate_asked - 1) > kMostRateError;
  if (far && (apart > 0.01 || sent != due))
    delivered.reasons.push_back(
        fmt::format("{:.4g} requests/s were sent, and {:.4g} were asked for", *delivered.rate,
                    *delivered.rate_asked));
}

// Gaps between sends, on the clock on which the law's mean is 1.
void judge_gaps(const LoadPlan& plan, std::span<const Trace> traces, double begin_s,
                Delivered& delivered) {
  if (!std::isfinite(plan.arrivals->rate)) return;
  std::vector<double> sends;
  for (const Trace* trace : arrivals_of(traces))
    if (trace->was_sent())
      sends.push_back(expected_by(*plan.arrivals, seconds(trace->sent_ns) - begin_s));
  if (sends.size() < 2) return;
  std::ranges::sort(sends);
  std::vector<double> gaps;
  for (std::size_t i = 1; i < sends.size(); ++i) gaps.push_back(sends[i] - sends[i - 1]);
  const std::size_t count = gaps.size();
  delivered.gaps_distance = gaps_distance(*plan.arrivals, std::move(gaps));
  if (delivered.gaps_distance)
    delivered.gaps_probability = distance_probability(*delivered.gaps_distance, count);
}

// The value that half of the plateau's time lies at or below.
std::optional<double> plateau_median(std::span<const Trace> traces, int asked) {
  const std::vector<Step> steps = concurrency_steps(traces);
  std::int64_t last_send = 0;
  for (const Trace& trace : traces) last_send = std::max(last_send, trace.sent_ns);
  const auto full = std::ranges::find_if(steps, [&](const Step& s) { return s.running >= asked; });
  if (full == steps.end()) return std::nullopt;
  std::vector<std::pair<int, std::int64_t>> times;
  std::int64_t all = 0;
  for (auto step = full; step != steps.end() && step->at_ns < last_send; ++step) {
    const std::int64_t until = step + 1 == steps.end() ? last_send : (step + 1)->at_ns;
    times.emplace_back(step->running, std::min(until, last_send) - step->at_ns);
    all += times.back().second;
  }
  if (all <= 0) return std::nullopt;
  std::ranges::sort(times);
  std::int64_t below = 0;
  for (const auto& [running, ns] : times) {
    below += ns;
    if (2 * below >= all) return running;
  }
  return std::nullopt;
}

void judge_concurrency(const LoadPlan& plan, std::span<const Trace> traces, Delivered& delivered) {
  delivered.concurrency_asked = plan.concurrency;
  if (std::ranges::any_of(traces, [](const Trace& trace) { return trace.turn > 0; })) return;
  const auto streams = static_cast<std::size_t>(plan.concurrency);
  int most = 0;
  for (const Step& step : concurrency_steps(traces)) most = std::max(most, step.running);
  if (most > plan.concurrency)
    delivered.reasons.push_back(fmt::format("{} ran at a time, and {} {} asked for",
                                            counted(most, "request"), plan.concurrency,
                                            plan.concurrency == 1 ? "was" : "were"));
  if (traces.size() < 2 * streams) return;  // There is no plateau.
  delivered.concurrency = plateau_median(traces, plan.concurrency);
  if (!delivered.concurrency || std::abs(*delivered.concurrency - plan.concurrency) >= 1)
    delivered.reasons.push_back(fmt::format(
        "{} requests ran at a time for most of the run, and {} were asked for",
        delivered.concurrency ? fmt::format("{:g}", *delivered.concurrency) : std::string("fewer"),
        plan.concurrency));
}

}  // namespace

Delivered judge_delivery(const LoadPlan& plan, std::span<const Trace> traces, double begin_s,
                         double shifted_s) {
  Delivered delivered;
  if (plan.is_open()) {
    if (!plan.arrivals || std::isfinite(plan.arrivals->rate))
      judge_rate(traces, shifted_s, delivered);
    if (plan.arrivals) judge_gaps(plan, traces, begin_s, delivered);
  } else {
    judge_concurrency(plan, traces, delivered);
  }
  delivered.as_asked = delivered.reasons.empty();
  return delivered;
}

}  // namespace assay::load
