#include "assay/record/conclude.h"

#include <algorithm>
#include <cmath>

#include "assay/base/hash.h"
#include "assay/record/bounds.h"
#include "assay/record/doubts.h"
#include "assay/record/plain_verdict.h"
#include "assay/stats/chain.h"
#include "assay/stats/robust.h"
#include "assay/stats/tie.h"

namespace assay {
namespace {

// All that is fixed before a confirmation's first sample: findings and endings may still come.
Json claim_of(const ProblemRecord& problem, const Confirmation& confirmation) {
  Json kernels = Json::array();
  for (const std::string& id : confirmation.finalists) {
    const KernelOutcome* kernel = problem.find(id);
    if (kernel == nullptr) continue;
    kernels.push_back({{"id", kernel->id},
                       {"provider", kernel->provider},
                       {"name", kernel->name},
                       {"role", to_string(kernel->role)},
                       {"artifact_hash", kernel->artifact_hash}});
  }
  return {{"operation", problem.operation},
          {"key", problem.key},
          {"problem", problem.problem},
          {"flops", problem.flops},
          {"bytes", problem.bytes},
          {"condition", problem.condition.to_string()},
          {"class", problem.race_class.to_string()},
          {"leader", confirmation.leader},
          {"candidate", confirmation.candidate},
          {"baseline", confirmation.baseline},
          {"kernels", std::move(kernels)}};
}

void update(Sha256& hash, const Confirmation& confirmation) {
  for (const ProcessSamples& process : confirmation.processes) {
    hash.update_field(canonical(to_json(process)));
  }
}

std::string hash_evidence(const ProblemRecord& problem, const Confirmation& confirmation) {
  Sha256 hash;
  hash.update_field(canonical(claim_of(problem, confirmation)));
  update(hash, confirmation);
  return hash.hex();
}

class Judge {
 public:
  Judge(const ProblemRecord& problem, const Confirmation& confirmation, const RunOptions& options)
      : problem_(problem), confirmation_(confirmation), options_(options) {}

  // Timed finalists in the race's order.
  std::vector<const KernelOutcome*> eligible() const {
    std::vector<const KernelOutcome*> kernels;
    for (const std::string& id : confirmation_.finalists) {
      const KernelOutcome* kernel = problem_.find(id);
      if (kernel != nullptr && is_timed(kernel->ending)) kernels.push_back(kernel);
    }
    return kernels;
  }

  PairVerdict pair(const std::string& candidate, const std::string& other) const {
    return {candidate, other, judge_pair(problem_, confirmation_, options_, candidate, other)};
  }

  // A kernel against itself: every process says exactly 0.
  PairVerdict itself(const std::string& id) const {
    std::vector<stats::ProcessMean> means = pair_means(confirmation_.processes, id, id);
    stats::JudgeOptions exactly = judge_options(options_, confirmation_);
    exactly.systematic = 0;
    return {id, id, stats::judge(means, exactly)};
  }

 private:
  const ProblemRecord& problem_;
  const Confirmation& confirmation_;
  const RunOptions& options_;
};

const KernelOutcome* with_id(const std::vector<const KernelOutcome*>& kernels,
                             std::string_view id) {
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [&](const KernelOutcome* kernel) { return kernel->id == id; });
  return found == kernels.end() ? nullptr : *found;
}

// Whose verdict is the problem's. Fixed beforehand; only if that kernel fell out while it was
// confirmed does the next in the race's order stand in.
const KernelOutcome* candidate_of(const std::vector<const KernelOutcome*>& kernels,
                                  const Confirmation& confirmation) {
  if (const KernelOutcome* chosen = with_id(kernels, confirmation.candidate)) return chosen;
  for (const KernelOutcome* kernel : kernels) {
    if (kernel->role != KernelRole::stock) return kernel;
  }
  return with_id(kernels, confirmation.leader);
}

// Kernels that can win. A user's kernel cannot if something is held against it, or against all that
// was timed beside users' kernels.
std::vector<const KernelOutcome*> undoubted(const std::vector<const KernelOutcome*>& kernels,
                                            const ProblemRecord& problem,
                                            const Confirmation& confirmation,
                                            const RunOptions& options) {
  if (options.rules < kRulesOfWinners) return kernels;
  const std::vector<Doubt> doubts = find_doubts(problem, confirmation, options);
  std::vector<const KernelOutcome*> left;
  for (const KernelOutcome* kernel : kernels)
    if (kernel->role != KernelRole::user || std::ranges::none_of(doubts, [&](const Doubt& doubt) {
          return doubt.id.empty() || doubt.id == kernel->id;
        }))
      left.push_back(kernel);
  return left;
}

// `kernels` can win. Where the leader cannot, the next in the race's order stands in.
void place(Conclusion& out, const std::vector<const KernelOutcome*>& kernels,
           const Confirmation& confirmation, const Judge& judge) {
  if (kernels.empty()) return;
  const KernelOutcome* chosen = with_id(kernels, confirmation.leader);
  const std::string& leader = chosen == nullptr ? kernels.front()->id : confirmation.leader;
  std::vector<stats::TieCandidate> candidates;
  for (const KernelOutcome* kernel : kernels) {
    stats::TieCandidate candidate{.name = kernel->label(),
                                  .against_leader = std::nullopt,
                                  .incumbent = kernel->id == confirmation.baseline,
                                  .workspace_bytes = kernel->workspace_bytes};
    if (kernel->id != leader) {
      out.against_leader.push_back(judge.pair(kernel->id, leader));
      candidate.against_leader = out.against_leader.back().verdict;
    }
    candidates.push_back(std::move(candidate));
  }
  const std::optional<stats::TieResult> ties = stats::break_ties(candidates);
  if (!ties) return;
  out.winner = kernels[ties->winner]->id;
  for (const std::size_t i : ties->tied) out.tied.push_back(kernels[i]->id);
  for (const std::size_t i : ties->unclear) out.unclear.push_back(kernels[i]->id);
  for (const std::size_t i : ties->ahead) out.ahead.push_back(kernels[i]->id);
}

// Whom a verdict on that kernel is held against.
KernelRole rivals_of_candidate(const ProblemRecord& problem, const RunOptions& options,
                               const KernelOutcome& candidate) {
  const bool may_be_ours =
      candidate.role == KernelRole::user && options.rules >= kRulesWithoutStock;
  return may_be_ours ? rivals_of(problem) : KernelRole::stock;
}

std::optional<PairVerdict> headline(Conclusion& out, const ProblemRecord& problem,
                                    const std::vector<const KernelOutcome*>& kernels,
                                    const Confirmation& confirmation, const RunOptions& options,
                                    const Judge& judge) {
  const KernelOutcome* candidate = candidate_of(kernels, confirmation);
  if (candidate == nullptr) return std::nullopt;
  // Where nobody brought a kernel, the question is what the winner is worth.
  const KernelOutcome* winner = with_id(kernels, out.winner);
  if (options.rules >= kRulesOfBounds && candidate->role != KernelRole::user && winner != nullptr)
    candidate = winner;
  if (candidate->role == KernelRole::stock) {
    if (candidate->id == confirmation.baseline) return judge.itself(candidate->id);
    if (with_id(kernels, confirmation.baseline) == nullptr) return std::nullopt;
    return judge.pair(candidate->id, confirmation.baseline);
  }
  std::vector<stats::Verdict> verdicts;
  const KernelRole rivals = rivals_of_candidate(problem, options, *candidate);
  for (const KernelOutcome* kernel : kernels) {
    if (kernel->role != rivals) continue;
    out.against_stock.push_back(judge.pair(candidate->id, kernel->id));
    verdicts.push_back(out.against_stock.back().verdict);
  }
  if (verdicts.empty()) return std::nullopt;
  const stats::Verdict weakest = stats::weakest(verdicts);
  for (const PairVerdict& pair : out.against_stock) {
    if (pair.verdict.word == weakest.word && pair.verdict.low == weakest.low &&
        pair.verdict.high == weakest.high)
      return pair;
  }
  return std::nullopt;
}

// Of clean bursts, per launch; in a chain less a bare link of that process.
void add_times(const ProcessSamples& process, std::string_view id, std::vector<double>& times_us) {
  const KernelSamples* samples = process.find(id);
  if (samples == nullptr) return;
  const std::vector<stats::Burst> bursts = bursts_of(*samples);
  double link_ns = 0;
  if (process.bare_links) {
    const auto time = stats::chain_time(bursts, bursts_of(*process.bare_links));
    if (!time) return;
    link_ns = time->link;
  }
  for (const stats::Burst& burst : bursts) {
    if (burst.clean && burst.ns > link_ns) times_us.push_back((burst.ns - link_ns) * 1e-3);
  }
}

double disturbed_us(const Confirmation& confirmation, const RunOptions& options,
                    std::string_view id) {
  std::vector<double> times;
  for (const ProcessSamples& process : confirmation.processes) {
    const KernelSamples* samples = process.find(id);
    // What a bare link takes in disturbed rounds is not known.
    if (samples == nullptr || process.bare_links) continue;
    for (std::size_t i = 0; i < samples->burst_ns.size(); ++i)
      if (const double ns = disturbed_launch_ns(*samples, i, options.threads); ns > 0)
        times.push_back(ns * 1e-3);
  }
  return times.empty() ? 0 : stats::median(times);
}

Conclusion::Time time_of(const Confirmation& confirmation, const RunOptions& options,
                         const std::string& id) {
  std::vector<double> times;
  for (const ProcessSamples& process : confirmation.processes) add_times(process, id, times);
  if (!times.empty()) return {id, stats::median(times), false};
  const double us = options.rules < kRulesOfBounds ? 0 : disturbed_us(confirmation, options, id);
  return {id, us, us > 0};
}

}  // namespace

stats::Verdict judge_pair(const ProblemRecord& problem, const Confirmation& confirmation,
                          const RunOptions& options, std::string_view candidate,
                          std::string_view other) {
  stats::Verdict verdict = plain_verdict(confirmation, options, candidate, other);
  if (verdict.word == stats::Word::unsure)
    if (auto bounded = bounded_verdict(problem, confirmation, options, candidate, other))
      verdict = std::move(*bounded);
  std::string doubt;
  if (is_ahead(verdict.word))
    doubt = why_not_faster(problem, confirmation, options, candidate, other);
  if (is_behind(verdict.word))
    doubt = why_not_faster(problem, confirmation, options, other, candidate);
  if (doubt.empty()) return verdict;
  verdict.word = stats::Word::unsure;
  verdict.reason = std::move(doubt);
  return verdict;
}

std::optional<stats::Interval> time_interval_us(std::span<const ProcessSamples> processes,
                                                std::string_view id, const RunOptions& options) {
  std::vector<double> logs;
  for (const ProcessSamples& process : processes) {
    std::vector<double> times;
    add_times(process, id, times);
    if (!times.empty()) logs.push_back(std::log(stats::median(times)));
  }
  auto interval = stats::student_interval(logs, options.confidence, options.min_processes);
  if (!interval) return std::nullopt;
  for (double* end : {&interval->centre, &interval->low, &interval->high}) *end = std::exp(*end);
  interval->standard_error *= interval->centre;
  return interval;
}

std::vector<LaunchBound> find_launch_bound(const Confirmation& confirmation) {
  std::vector<LaunchBound> found;
  for (const std::string& id : confirmation.finalists) {
    std::vector<double> kernels, links;
    size_t hidden = 0;
    for (const ProcessSamples& process : confirmation.processes) {
      const KernelSamples* samples = process.find(id);
      if (samples == nullptr || !process.bare_links) continue;
      const auto time = stats::chain_time(bursts_of(*samples), bursts_of(*process.bare_links));
      if (!time) continue;
      kernels.push_back(time->ns * 1e-3);
      links.push_back(time->link * 1e-3);
      hidden += time->is_launch_bound() ? 1 : 0;
    }
    if (2 * hidden > kernels.size())
      found.push_back({id, stats::median(kernels), stats::median(links)});
  }
  return found;
}

KernelRole rivals_of(const ProblemRecord& problem) {
  return std::ranges::find(problem.kernels, KernelRole::stock, &KernelOutcome::role) ==
                 problem.kernels.end()
             ? KernelRole::ours
             : KernelRole::stock;
}

std::string next_leader(const Conclusion& conclusion) {
  const PairVerdict* next = nullptr;
  for (const PairVerdict& pair : conclusion.against_leader)
    if (std::ranges::find(conclusion.ahead, pair.candidate) != conclusion.ahead.end() &&
        (next == nullptr || pair.verdict.ratio > next->verdict.ratio))
      next = &pair;
  return next == nullptr ? std::string() : next->candidate;
}

std::string hash_samples(const Confirmation& confirmation) {
  Sha256 hash;
  update(hash, confirmation);
  return hash.hex();
}

std::optional<stats::Verdict> verdict_between(const ProblemRecord& problem,
                                              const RunOptions& options, std::string_view candidate,
                                              std::string_view other) {
  const Confirmation* confirmation = problem.decisive();
  if (confirmation == nullptr) return std::nullopt;
  for (const std::string_view id : {candidate, other}) {
    const KernelOutcome* kernel = problem.find(id);
    if (kernel == nullptr || !is_timed(kernel->ending) ||
        std::ranges::find(confirmation->finalists, id) == confirmation->finalists.end())
      return std::nullopt;
  }
  return judge_pair(problem, *confirmation, options, candidate, other);
}

Conclusion conclude(const ProblemRecord& problem, const Confirmation& confirmation,
                    const RunOptions& options) {
  const Judge judge(problem, confirmation, options);
  const std::vector<const KernelOutcome*> kernels = judge.eligible();
  Conclusion conclusion;
  // Fixed beforehand: one that fell out while it was confirmed leaves nobody to be compared with.
  if (with_id(kernels, confirmation.leader) != nullptr)
    place(conclusion, undoubted(kernels, problem, confirmation, options), confirmation, judge);
  conclusion.headline = headline(conclusion, problem, kernels, confirmation, options, judge);
  for (const KernelOutcome* kernel : kernels) {
    conclusion.times.push_back(time_of(confirmation, options, kernel->id));
  }
  conclusion.evidence_hash = hash_evidence(problem, confirmation);
  return conclusion;
}

}  // namespace assay
