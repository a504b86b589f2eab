#include "assay/record/plain_verdict.h"

#include <algorithm>

#include "assay/stats/chain.h"

namespace assay {
namespace {

// Whether the two ran in one process, which all processes of a confirmation agree about.
bool are_apart(const Confirmation& confirmation, std::string_view first, std::string_view second) {
  for (const ProcessSamples& process : confirmation.processes) {
    const KernelSamples* one = process.find(first);
    const KernelSamples* two = process.find(second);
    if (one != nullptr && two != nullptr && one->process != two->process) return true;
  }
  return false;
}

}  // namespace

std::vector<stats::Burst> bursts_of(const KernelSamples& samples) {
  std::vector<stats::Burst> bursts;
  bursts.reserve(samples.burst_ns.size());
  for (std::size_t i = 0; i < samples.burst_ns.size(); ++i) {
    bursts.push_back({.ns = static_cast<double>(samples.burst_ns[i]) /
                            static_cast<double>(std::max<std::int64_t>(samples.launches, 1)),
                      .clean = i < samples.clean.size() && samples.clean[i] != 0});
  }
  return bursts;
}

std::vector<stats::ProcessMean> pair_means(std::span<const ProcessSamples> processes,
                                           std::string_view candidate, std::string_view other) {
  std::vector<stats::ProcessMean> means;
  for (const ProcessSamples& process : processes) {
    const KernelSamples* first = process.find(candidate);
    const KernelSamples* second = process.find(other);
    if (first == nullptr || second == nullptr) {
      means.emplace_back();
      continue;
    }
    const std::vector<stats::Burst> one = bursts_of(*first), two = bursts_of(*second);
    means.push_back(process.bare_links
                        ? stats::chain_mean(one, two, bursts_of(*process.bare_links))
                        : stats::process_mean(stats::pair_rounds(one, two, process.placement)));
  }
  return means;
}

std::vector<stats::ProcessMean> with_worst_means(std::vector<stats::ProcessMean> means,
                                                 const Confirmation& confirmation,
                                                 std::string_view candidate,
                                                 std::string_view other) {
  std::optional<double> least, most;
  std::size_t known = 0;
  for (const stats::ProcessMean& mean : means) {
    if (!mean.log_ratio) continue;
    ++known;
    least = std::min(least.value_or(*mean.log_ratio), *mean.log_ratio);
    most = std::max(most.value_or(*mean.log_ratio), *mean.log_ratio);
  }
  if (2 * known < means.size()) return means;
  const auto spoiled = [](const KernelSamples& samples) {
    return std::ranges::count(samples.clean, 0);
  };
  for (std::size_t i = 0; least && i < means.size(); ++i) {
    const KernelSamples* first = confirmation.processes[i].find(candidate);
    const KernelSamples* second = confirmation.processes[i].find(other);
    if (means[i].log_ratio || means[i].rounds == 0 || first == nullptr || second == nullptr)
      continue;
    means[i].log_ratio = spoiled(*first) >= spoiled(*second) ? least : most;
  }
  return means;
}

stats::JudgeOptions judge_options(const RunOptions& options, const Confirmation& confirmation) {
  const double index = confirmation.earlier + 1.0;
  const double share = index > 1 ? 1 / (index * (index - 1)) : 1;
  return {.margin = options.margin,
          .confidence = 1 - (1 - options.confidence) * share,
          .min_processes = options.min_processes,
          .systematic = options.systematic_error};
}

stats::Verdict plain_verdict(const Confirmation& confirmation, const RunOptions& options,
                             std::string_view candidate, std::string_view other) {
  std::vector<stats::ProcessMean> means = pair_means(confirmation.processes, candidate, other);
  stats::JudgeOptions judging = judge_options(options, confirmation);
  if (options.rules >= kRulesOfDoubt) {
    means = with_worst_means(std::move(means), confirmation, candidate, other);
    if (are_apart(confirmation, candidate, other))
      judging.systematic = options.systematic_error_apart;
  }
  return stats::judge(means, judging);
}

bool is_ahead(stats::Word word) {
  return word == stats::Word::faster || word == stats::Word::slightly_faster;
}
bool is_behind(stats::Word word) {
  return word == stats::Word::slower || word == stats::Word::slightly_slower;
}

}  // namespace assay
