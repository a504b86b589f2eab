#include "assay/record/doubts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "assay/record/plain_verdict.h"
#include "assay/record/work_beside.h"
#include "assay/stats/interval.h"
#include "assay/stats/rates.h"
#include "assay/stats/robust.h"

namespace assay {
namespace {

// Disturbances come in swarms, and every finalist is compared with every other one.
constexpr double kChance = 1e-6;

// A burst in a process that takes turns with users' and one in a process that takes turns with ours
// differ by up to 5 us in either direction (measured, of launches of 0.4 us).
constexpr double kTurnsNs = 10e3;

constexpr const char* kClock = "clock";
constexpr const char* kSpoiled = "own_rounds_spoiled";
constexpr const char* kSlowed = "rivals_slowed";
constexpr const char* kBeside = "worked_beside_clock";

struct Exposure {
  stats::Count per_burst, per_ms;
};

Exposure exposure_of(const Confirmation& confirmation, std::string_view id) {
  Exposure exposure;
  for (const ProcessSamples& process : confirmation.processes) {
    const KernelSamples* samples = process.find(id);
    if (samples == nullptr) continue;
    for (std::size_t i = 0; i < samples->burst_ns.size(); ++i) {
      if (samples->burst_ns[i] <= 0) continue;
      const std::int64_t spoiled = samples->clean[i] == 0 ? 1 : 0;
      exposure.per_burst.events += spoiled;
      exposure.per_burst.exposure += 1;
      exposure.per_ms.events += spoiled;
      exposure.per_ms.exposure += static_cast<double>(samples->burst_ns[i]) * 1e-6;
    }
  }
  return exposure;
}

// What is said of the two if disturbed bursts of the first count like others, as long as they were.
stats::Word word_of_all_rounds(const Confirmation& confirmation, const RunOptions& options,
                               std::string_view id, std::string_view other) {
  Confirmation all = confirmation;
  for (ProcessSamples& process : all.processes)
    for (KernelSamples& samples : process.kernels)
      if (samples.id == id) std::ranges::fill(samples.clean, std::uint8_t{1});
  return plain_verdict(all, options, id, other).word;
}

// Of users' kernels: no other has a reason to. Whoever is as far ahead with all of its rounds has
// gained nothing by a choice.
bool spoils_own_rounds(const ProblemRecord& problem, const Confirmation& confirmation,
                       const RunOptions& options, std::string_view id, std::string_view other) {
  const KernelOutcome* kernel = problem.find(id);
  if (kernel == nullptr || kernel->role != KernelRole::user) return false;
  const Exposure own = exposure_of(confirmation, id), others = exposure_of(confirmation, other);
  if (stats::chance_of_more(own.per_burst, others.per_burst) >= kChance ||
      stats::chance_of_more(own.per_ms, others.per_ms) >= kChance)
    return false;
  const stats::Word word = plain_verdict(confirmation, options, id, other).word;
  return is_ahead(word) && word_of_all_rounds(confirmation, options, id, other) != word;
}

struct Clocks {
  double burst_ns = 0, apart_ns = 0;
};

// As the means of a claim: over clean bursts, less those at both ends. Where the machine takes the
// core away between the two clocks, the burst is not clean.
std::optional<Clocks> clocks_in(const KernelSamples& samples) {
  std::vector<double> inside, apart;
  for (std::size_t i = 0; i < samples.outside_ns.size(); ++i) {
    if (samples.outside_ns[i] <= 0 || samples.burst_ns[i] <= 0 || samples.clean[i] == 0) continue;
    inside.push_back(static_cast<double>(samples.burst_ns[i]));
    apart.push_back(static_cast<double>(samples.outside_ns[i] - samples.burst_ns[i]));
  }
  if (inside.empty()) return std::nullopt;
  return Clocks{stats::trimmed_mean(inside, stats::kTrimFraction),
                stats::trimmed_mean(apart, stats::kTrimFraction)};
}

// What telling of a stretch costs there, by the kernels that no user brought, of which nobody
// doubts a clock. It is as much for all that is told in one company.
double telling_ns(const ProblemRecord& problem, const ProcessSamples& process) {
  std::vector<double> apart;
  for (const KernelSamples& samples : process.kernels) {
    const KernelOutcome* kernel = problem.find(samples.id);
    const auto clocks = clocks_in(samples);
    if (kernel != nullptr && kernel->role != KernelRole::user && clocks)
      apart.push_back(clocks->apart_ns / stretches_of(problem, samples));
  }
  return apart.empty() ? 0 : std::max(0.0, stats::median(apart));
}

// Of the process in which its clocks differ most; empty where they agree in all.
std::string clocks_of(const ProblemRecord& problem, const Confirmation& confirmation,
                      std::string_view id) {
  for (const ProcessSamples& process : confirmation.processes) {
    const KernelSamples* samples = process.find(id);
    const auto clocks = samples == nullptr ? std::nullopt : clocks_in(*samples);
    if (!clocks) continue;
    const double stretches = stretches_of(problem, *samples);
    const double allowed = clocks_apart_ns(clocks->burst_ns, stretches);
    const double apart_ns = clocks->apart_ns;
    if (apart_ns >= -allowed && apart_ns <= allowed + stretches * telling_ns(problem, process))
      continue;
    return fmt::format(
        "its process says {:.4g} us a burst, and outside of it {:.4g} us passed: no claim is made "
        "of such times",
        clocks->burst_ns * 1e-3, (clocks->burst_ns + apart_ns) * 1e-3);
  }
  return {};
}

// What is said of the two if bursts of the first took what passed outside of its process, less what
// telling costs.
stats::Word word_by_outer_clock(const ProblemRecord& problem, const Confirmation& confirmation,
                                const RunOptions& options, std::string_view id,
                                std::string_view other) {
  Confirmation outer = confirmation;
  for (ProcessSamples& process : outer.processes)
    for (KernelSamples& samples : process.kernels) {
      const auto clocks = samples.id == id ? clocks_in(samples) : std::nullopt;
      if (!clocks) continue;
      const double more_ns =
          clocks->apart_ns - stretches_of(problem, samples) * telling_ns(problem, process);
      for (std::int64_t& ns : samples.burst_ns)
        if (ns > 0 && more_ns > 0) ns += static_cast<std::int64_t>(more_ns);
    }
  return plain_verdict(outer, options, id, other).word;
}

// Whether the first is ahead only if what its thread worked beside its launches does not count.
bool rests_on_work_beside(const Confirmation& confirmation, const RunOptions& options,
                          const WorkBeside& beside, std::string_view id, std::string_view other) {
  if (!is_ahead(plain_verdict(confirmation, options, id, other).word)) return false;
  const Confirmation charged = with_work_beside(confirmation, id, beside);
  return !is_ahead(plain_verdict(charged, options, id, other).word);
}

std::string sentence_of(const WorkBeside& beside) {
  return fmt::format(
      "beside the launches of a burst its thread worked for {:.1f} us, and for {:.1f} us beside "
      "those of others, in {} processes: that may be work of its launches, and with it the kernel "
      "is not ahead",
      beside.own_ns * 1e-3, beside.others_ns * 1e-3, beside.processes);
}

std::optional<double> mean_log(const std::vector<KernelSamples>& kernels, std::string_view id) {
  const auto samples = std::ranges::find(kernels, id, &KernelSamples::id);
  if (samples == kernels.end()) return std::nullopt;
  std::vector<double> logs;
  for (std::size_t i = 0; i < samples->burst_ns.size(); ++i)
    if (samples->clean[i] != 0 && samples->burst_ns[i] > 0)
      logs.push_back(std::log(static_cast<double>(samples->burst_ns[i]) /
                              static_cast<double>(samples->launches)));
  if (2 * logs.size() < samples->burst_ns.size() || logs.empty()) return std::nullopt;
  return stats::trimmed_mean(logs, stats::kTrimFraction);
}

// How much longer a kernel takes in company, over the processes.
std::optional<stats::Interval> slowed(const Confirmation& confirmation, const RunOptions& options,
                                      std::string_view id) {
  std::vector<double> differences;
  for (const std::optional<double>& one : slowdowns(confirmation, id))
    if (one) differences.push_back(*one);
  return stats::student_interval(differences, options.confidence, options.min_processes);
}

bool is_stock(const ProblemRecord& problem, const std::string& id) {
  const KernelOutcome* const kernel = problem.find(id);
  return kernel != nullptr && kernel->role == KernelRole::stock;
}

bool has_stock(const ProblemRecord& problem, const Confirmation& confirmation) {
  return std::ranges::any_of(confirmation.finalists,
                             [&](const std::string& id) { return is_stock(problem, id); });
}

// Of stock kernels; if none is there, of all that made rounds without the candidate.
std::string rivals_slowed(const ProblemRecord& problem, const Confirmation& confirmation,
                          const RunOptions& options) {
  const bool any_stock = has_stock(problem, confirmation);
  for (const std::string& id : confirmation.finalists) {
    const KernelOutcome* kernel = problem.find(id);
    if (kernel == nullptr || (any_stock && !is_stock(problem, id))) continue;
    const auto interval = slowed(confirmation, options, id);
    if (!interval || interval->low <= std::log1p(options.margin)) continue;
    const bool is_users = kernel->role == KernelRole::user;
    return fmt::format(
        "{} takes {:.2f} to {:.2f} x as long beside {} as without {}: what is faster "
        "than it there need not be",
        kernel->label(), std::exp(interval->low), std::exp(interval->high),
        is_users ? problem.label(confirmation.candidate) : "users' kernels",
        is_users ? "it" : "them");
  }
  return {};
}

}  // namespace

double stretches_of(const ProblemRecord& problem, const KernelSamples& samples) {
  return problem.condition.cache == "warm" ? static_cast<double>(samples.launches) : 1;
}

std::vector<std::optional<double>> slowdowns(const Confirmation& confirmation,
                                             std::string_view id) {
  std::vector<std::optional<double>> found;
  for (const ProcessSamples& process : confirmation.processes) {
    const auto alone = mean_log(process.alone, id), beside = mean_log(process.kernels, id);
    found.emplace_back();
    if (!alone || !beside) continue;
    const KernelSamples* samples = process.find(id);
    const double turns_ns =
        kTurnsNs / static_cast<double>(std::max<std::int64_t>(1, samples->launches));
    found.back() = std::log(std::max(std::exp(*beside) - turns_ns, 1.0)) - *alone;
  }
  return found;
}

bool is_of_samples(std::string_view code) {
  return code == kClock || code == kSpoiled || code == kSlowed || code == kBeside;
}

std::vector<Doubt> find_doubts(const ProblemRecord& problem, const Confirmation& confirmation,
                               const RunOptions& options) {
  std::vector<Doubt> doubts;
  if (options.rules < kRulesOfDoubt) return doubts;
  for (const std::string& id : confirmation.finalists) {
    if (std::string clocks = clocks_of(problem, confirmation, id); !clocks.empty())
      doubts.push_back({id, {kClock, std::move(clocks)}});
    if (const auto beside = work_beside(problem, confirmation, id))
      if (std::ranges::any_of(confirmation.finalists, [&](const std::string& other) {
            return other != id && rests_on_work_beside(confirmation, options, *beside, id, other);
          }))
        doubts.push_back({id, {kBeside, sentence_of(*beside)}});
    for (const std::string& other : confirmation.finalists) {
      if (!spoils_own_rounds(problem, confirmation, options, id, other)) continue;
      const stats::Count own = exposure_of(confirmation, id).per_burst;
      const stats::Count others = exposure_of(confirmation, other).per_burst;
      doubts.push_back(
          {id,
           {kSpoiled,
            fmt::format("{} of its {:.0f} bursts were disturbed, and {} of {:.0f} of {}; with "
                        "these it is not ahead: which rounds count is not for a kernel to "
                        "choose",
                        own.events, own.exposure, others.events, others.exposure,
                        problem.label(other))}});
      break;
    }
  }
  if (std::string slower = rivals_slowed(problem, confirmation, options); !slower.empty())
    doubts.push_back({"", {kSlowed, std::move(slower)}});
  return doubts;
}

std::string why_not_faster(const ProblemRecord& problem, const Confirmation& confirmation,
                           const RunOptions& options, std::string_view candidate,
                           std::string_view other) {
  if (options.rules < kRulesOfDoubt) return {};
  if (!clocks_of(problem, confirmation, candidate).empty())
    return "the clock in its process and the one outside do not agree";
  const stats::Word word = plain_verdict(confirmation, options, candidate, other).word;
  if (is_ahead(word) &&
      word_by_outer_clock(problem, confirmation, options, candidate, other) != word)
    return "by the clock outside its process it is not as far ahead";
  if (const auto beside = work_beside(problem, confirmation, candidate))
    if (rests_on_work_beside(confirmation, options, *beside, candidate, other))
      return "its thread worked for longer beside its launches than beside those of others";
  if (spoils_own_rounds(problem, confirmation, options, candidate, other))
    return "its own bursts were disturbed more often than the other's, beyond chance, and with "
           "these "
           "it is not ahead";
  const KernelOutcome* kernel = problem.find(candidate);
  if (kernel != nullptr && kernel->role == KernelRole::user) {
    for (const Finding& finding : problem.findings)
      if (finding.code == "failed_in_company")
        return "stock kernels failed beside users' kernels, and not without them";
    if (!rivals_slowed(problem, confirmation, options).empty())
      return has_stock(problem, confirmation)
                 ? "a stock kernel was slower beside users' kernels than without them"
                 : "a kernel that it is held against was slower beside it than without it";
  }
  return {};
}

}  // namespace assay
