#include "assay/record/work_beside.h"

#include <algorithm>
#include <cstdint>

#include "assay/record/doubts.h"
#include "assay/stats/robust.h"

namespace assay {
namespace {

struct Clean {
  std::vector<double> beside_ns, burst_ns;
};

Clean clean_bursts(const KernelSamples& samples) {
  Clean clean;
  for (std::size_t i = 0; i < samples.beside_ns.size(); ++i) {
    if (samples.beside_ns[i] <= 0 || samples.burst_ns[i] <= 0 || samples.clean[i] == 0) continue;
    clean.beside_ns.push_back(static_cast<double>(samples.beside_ns[i]));
    clean.burst_ns.push_back(static_cast<double>(samples.burst_ns[i]));
  }
  return clean;
}

bool is_users(const ProblemRecord& problem, std::string_view id) {
  const KernelOutcome* kernel = problem.find(id);
  return kernel != nullptr && kernel->role == KernelRole::user;
}

// The most of their medians; of bursts of as many launches, if there are such: inputs are made for
// each. Of others it is as much more as they have fewer.
double taken_by_others(const ProblemRecord& problem, const ProcessSamples& process,
                       std::int64_t launches) {
  double alike_ns = 0, others_ns = 0;
  for (const KernelSamples& samples : process.kernels) {
    if (is_users(problem, samples.id)) continue;
    const Clean clean = clean_bursts(samples);
    if (clean.beside_ns.empty()) continue;
    const double usual_ns = stats::median(clean.beside_ns);
    const double more = static_cast<double>(launches) / static_cast<double>(samples.launches);
    others_ns = std::max(others_ns, usual_ns * std::max(1.0, more));
    if (samples.launches == launches) alike_ns = std::max(alike_ns, usual_ns);
  }
  return alike_ns > 0 ? alike_ns : others_ns;
}

struct Beside {
  double own_ns = 0, others_ns = 0, beyond_ns = 0;
};

Beside beside_in(const ProblemRecord& problem, const ProcessSamples& process, std::string_view id) {
  const KernelSamples* samples = process.find(id);
  if (samples == nullptr) return {};
  const Clean clean = clean_bursts(*samples);
  const double others_ns = taken_by_others(problem, process, samples->launches);
  if (clean.beside_ns.empty() || others_ns <= 0) return {};
  const double own_ns = stats::lower_quartile(clean.beside_ns);
  const double allowed_ns = work_beside_allowed_ns(others_ns, stats::median(clean.burst_ns),
                                                   stretches_of(problem, *samples));
  return {own_ns, others_ns, std::max(0.0, own_ns - allowed_ns)};
}

}  // namespace

std::optional<WorkBeside> work_beside(const ProblemRecord& problem,
                                      const Confirmation& confirmation, std::string_view id) {
  constexpr std::size_t kProcesses = 3;
  if (!is_users(problem, id)) return std::nullopt;
  WorkBeside found;
  double most_ns = 0;
  for (const ProcessSamples& process : confirmation.processes) {
    const Beside one = beside_in(problem, process, id);
    const bool is_beyond = one.beyond_ns > 0;
    found.excess_ns.push_back(is_beyond ? one.own_ns - one.others_ns : 0);
    if (!is_beyond) continue;
    ++found.processes;
    if (one.beyond_ns <= most_ns) continue;
    most_ns = one.beyond_ns;
    found.own_ns = one.own_ns;
    found.others_ns = one.others_ns;
  }
  const std::size_t least = std::min(kProcesses, confirmation.processes.size());
  if (found.processes == 0 || found.processes < least) return std::nullopt;
  return found;
}

Confirmation with_work_beside(const Confirmation& confirmation, std::string_view id,
                              const WorkBeside& beside) {
  constexpr double kTimes = 2;
  Confirmation charged = confirmation;
  for (std::size_t p = 0; p < charged.processes.size(); ++p)
    for (KernelSamples& samples : charged.processes[p].kernels) {
      if (samples.id != id) continue;
      for (std::int64_t& ns : samples.burst_ns)
        if (ns > 0) ns += static_cast<std::int64_t>(kTimes * beside.excess_ns[p]);
    }
  return charged;
}

}  // namespace assay
