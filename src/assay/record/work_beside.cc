#include "assay/record/work_beside.h"

#include <algorithm>

#include <fmt/format.h>

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

// The most of their upper quartiles; of bursts of as many launches, if there are such: inputs are
// made for each. Of others it is as much more as they have fewer. 0: unknown.
double taken_by_others(const ProblemRecord& problem, const ProcessSamples& process,
                       std::int64_t launches) {
  double alike_ns = 0, others_ns = 0;
  for (const KernelSamples& samples : process.kernels) {
    if (is_users(problem, samples.id)) continue;
    const Clean clean = clean_bursts(samples);
    if (clean.beside_ns.empty()) continue;
    const double most_ns = stats::upper_quartile(clean.beside_ns);
    const double more = static_cast<double>(launches) / static_cast<double>(samples.launches);
    others_ns = std::max(others_ns, most_ns * std::max(1.0, more));
    if (samples.launches == launches) alike_ns = std::max(alike_ns, most_ns);
  }
  return alike_ns > 0 ? alike_ns : others_ns;
}

struct Beside {
  double own_ns = 0, others_ns = 0, beyond_ns = 0;
};

Beside work_beside(const ProblemRecord& problem, const ProcessSamples& process,
                   std::string_view id) {
  const KernelSamples* samples = process.find(id);
  if (samples == nullptr || !is_users(problem, id)) return {};
  const Clean clean = clean_bursts(*samples);
  const double others_ns = taken_by_others(problem, process, samples->launches);
  if (clean.beside_ns.empty() || others_ns <= 0) return {};
  const double own_ns = stats::median(clean.beside_ns);
  const double allowed_ns = work_beside_allowed_ns(others_ns, stats::median(clean.burst_ns),
                                                   stretches_of(problem, *samples));
  return {own_ns, others_ns, std::max(0.0, own_ns - allowed_ns)};
}

}  // namespace

std::string work_beside(const ProblemRecord& problem, const Confirmation& confirmation,
                        std::string_view id) {
  constexpr std::size_t kProcesses = 3;
  std::size_t beyond = 0;
  Beside most;
  for (const ProcessSamples& process : confirmation.processes) {
    const Beside one = work_beside(problem, process, id);
    beyond += one.beyond_ns > 0 ? 1 : 0;
    if (one.beyond_ns > most.beyond_ns) most = one;
  }
  if (beyond == 0 || beyond < std::min(kProcesses, confirmation.processes.size())) return {};
  return fmt::format(
      "beside the launches of a burst its thread worked for {:.1f} us, and for {:.1f} us beside "
      "those of others, in {} processes: that may be work of its launches, so it is not called "
      "faster",
      most.own_ns * 1e-3, most.others_ns * 1e-3, beyond);
}

}  // namespace assay
