#include "assay/record/work_beside.h"

#include <algorithm>
#include <cstdint>

#include "assay/record/doubts.h"
#include "assay/stats/robust.h"

namespace assay {
namespace {

struct Burst {
  std::size_t place = 0;  // Among all of the process.
  double beside_ns = 0, burst_ns = 0;
};

std::vector<Burst> clean_bursts(const KernelSamples& samples) {
  std::vector<Burst> clean;
  for (std::size_t i = 0; i < samples.beside_ns.size(); ++i) {
    if (samples.beside_ns[i] <= 0 || samples.burst_ns[i] <= 0 || samples.clean[i] == 0) continue;
    clean.push_back(
        {i, static_cast<double>(samples.beside_ns[i]), static_cast<double>(samples.burst_ns[i])});
  }
  return clean;
}

std::vector<double> each(const std::vector<Burst>& bursts, double Burst::*value) {
  std::vector<double> values;
  for (const Burst& burst : bursts) values.push_back(burst.*value);
  return values;
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
    const std::vector<Burst> clean = clean_bursts(samples);
    if (clean.empty()) continue;
    const double usual_ns = stats::median(each(clean, &Burst::beside_ns));
    const double more = static_cast<double>(launches) / static_cast<double>(samples.launches);
    others_ns = std::max(others_ns, usual_ns * std::max(1.0, more));
    if (samples.launches == launches) alike_ns = std::max(alike_ns, usual_ns);
  }
  return alike_ns > 0 ? alike_ns : others_ns;
}

struct Beside {
  double own_ns = 0, others_ns = 0, beyond_ns = 0;
  std::vector<double> excess_ns;  // Of each burst.
};

// Of all bursts, or, if those are within, of the fastest half or quarter of them.
Beside beside_in(const ProblemRecord& problem, const ProcessSamples& process, std::string_view id) {
  constexpr std::size_t kFewest = 4;
  const KernelSamples* samples = process.find(id);
  if (samples == nullptr) return {};
  std::vector<Burst> fastest = clean_bursts(*samples);
  const std::size_t all = fastest.size();
  const double others_ns = taken_by_others(problem, process, samples->launches);
  if (all == 0 || others_ns <= 0) return {};
  std::ranges::sort(fastest, {}, &Burst::burst_ns);
  for (const std::size_t part : {1, 2, 4}) {
    if (part > 1 && all / part < kFewest) break;
    fastest.resize(all / part);
    const double own_ns = stats::lower_quartile(each(fastest, &Burst::beside_ns));
    const double allowed_ns = work_beside_allowed_ns(
        others_ns, stats::median(each(fastest, &Burst::burst_ns)), stretches_of(problem, *samples));
    if (own_ns <= allowed_ns) continue;
    // Disturbed ones were as long beside their launches as the others.
    Beside found{own_ns, others_ns, own_ns - allowed_ns, {}};
    found.excess_ns.assign(samples->burst_ns.size(), part == 1 ? own_ns - others_ns : 0);
    for (const Burst& burst : fastest) found.excess_ns[burst.place] = own_ns - others_ns;
    return found;
  }
  return {0, others_ns, 0, {}};
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
    found.excess_ns.push_back(one.excess_ns);
    if (one.beyond_ns <= 0) continue;
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
      for (std::size_t i = 0; i < beside.excess_ns[p].size(); ++i)
        if (samples.burst_ns[i] > 0)
          samples.burst_ns[i] += static_cast<std::int64_t>(kTimes * beside.excess_ns[p][i]);
    }
  return charged;
}

}  // namespace assay
