#include "assay/compare/limits.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/record/ceilings.h"
#include "assay/record/conclude.h"

namespace assay {
namespace {

// At this share of a ceiling it is what limits the kernel; under the lower one it is not in sight.
// Read ceilings of one window swing by about a tenth (measured), so nothing finer is said.
constexpr double kAtCeiling = 0.75, kFarFromCeiling = 0.4;

std::string per_cent(double share) { return fmt::format("{:.0f} %", share * 100); }

void add_ceilings(Limits& limits, const RunRecord& record, const ProblemRecord& problem) {
  const double seconds = limits.us * 1e-6;
  const auto add = [&](const Ceiling& ceiling, double work) {
    if (ceiling.value > 0 && work > 0)
      limits.ceilings.push_back({ceiling.name, work / seconds, ceiling.value, ceiling.unit});
  };
  for (const Ceiling& ceiling : record.environment.ceilings)
    if (ceiling.name == "read") add(ceiling, problem.bytes);
  if (const Ceiling* ceiling =
          arithmetic_ceiling(record.environment.ceilings, first_input_type(problem)))
    add(*ceiling, problem.flops);
  std::stable_sort(limits.ceilings.begin(), limits.ceilings.end(),
                   [](const auto& one, const auto& other) { return one.share() > other.share(); });
}

void add_counts(Limits& limits, const ProblemRecord& problem) {
  const double fmas = problem.flops / 2;
  if (const auto found = problem.counts.find(limits.id); found != problem.counts.end()) {
    const EventCounts& counts = found->second;
    limits.clock_hz = counts.clock_hz;
    limits.counts = counts.per_launch;
    limits.unavailable = counts.unavailable;
  }
  const auto count = [&](const char* event) {
    const auto found = limits.counts.find(event);
    return found == limits.counts.end() ? 0.0 : found->second;
  };
  limits.cycles = count("cycles");
  limits.cycles_counted = limits.cycles > 0;
  if (!limits.cycles_counted) limits.cycles = limits.us * 1e-6 * limits.clock_hz * limits.threads;
  if (limits.cycles > 0 && fmas > 0) {
    limits.cycles_per_fma = limits.cycles / fmas;
    limits.fmas_per_cycle = fmas / limits.cycles;
  }
  const double instructions = count("instructions");
  if (limits.cycles_counted) limits.instructions_per_cycle = instructions / limits.cycles;
  if (fmas > 0) limits.instructions_per_fma = instructions / fmas;
}

std::string nearest_sentence(const CeilingShare& nearest, bool warm) {
  const bool reads = nearest.ceiling == "read";
  const std::string what = reads ? std::string("memory's read bandwidth")
                                 : "the arithmetic peak (" + nearest.ceiling + ")";
  const double share = nearest.share();
  if (reads && share > 1)
    return fmt::format(
        "It takes its operands faster than memory gives them (>= 100 % of read bandwidth): {}.",
        warm ? "they lie in a cache, as this condition means them to"
             : "part of them still lay in a cache");
  if (share >= kAtCeiling)
    return fmt::format("It is bound by {}: {} of what this machine was measured to give. {}", what,
                       share > 1 ? ">= 100 %" : per_cent(share),
                       reads
                           ? "Only fewer bytes (a narrower type, one pass) make it faster, not "
                             "better arithmetic."
                           : "Only fewer operations or denser instructions (a narrower type) make "
                             "it faster, not better use of memory.");
  if (share >= kFarFromCeiling)
    return fmt::format(
        "The nearest ceiling is {}, at {}: up to {:.1f} x faster before it stands in the way.",
        what, per_cent(share), 1 / share);
  return fmt::format(
      "No ceiling is near (the nearest is {}, at {}): the time goes into latency, into "
      "instructions "
      "that compute nothing of the result, or into threads that wait.",
      what, per_cent(share));
}

// Of the launch that has the most blocks: what its geometry leaves of the GPU.
void add_launch_sentences(Limits& limits) {
  const auto most = std::ranges::max_element(limits.launches, {}, &GpuLaunchFacts::blocks);
  if (most == limits.launches.end()) return;
  const double waves = most->waves();
  const double wave = static_cast<double>(most->resident_blocks * most->multiprocessors);
  const auto of = fmt::format("{} block{}, {} of which the GPU holds at once", most->blocks,
                              most->blocks == 1 ? "" : "s", static_cast<int64_t>(wave));
  constexpr double kFullWave = 0.95;  // A tail that costs less is within what waves overlap by.
  if (waves > 0 && waves < kFullWave)
    limits.because.push_back(fmt::format("It launches {}: {} of the GPU has nothing to do.", of,
                                         waves < 0.005 ? "over 99 %" : per_cent(1 - waves)));
  else if (waves > 1 && waves / std::ceil(waves) < kFullWave)
    limits.because.push_back(fmt::format(
        "It launches {}: {:.1f} waves, and the last one leaves {} of the GPU's time unused.", of,
        waves, per_cent(1 - waves / std::ceil(waves))));
  for (const GpuLaunchFacts& launch : limits.launches)
    if (launch.local_bytes > 0)
      limits.because.push_back(fmt::format(
          "Each of its threads keeps {} bytes in local memory: registers that were spilled, or "
          "arrays that are indexed.",
          launch.local_bytes));
}

std::string bytes_text(double bytes) { return format_si(bytes, "B"); }

// Of a library's launch, whose geometry the tool alone tells.
void add_seen_launch_sentences(Limits& limits, const GpuProfile& profile) {
  const auto blocks = [](const ProfiledKernel& kernel) {
    return kernel.at(metric::kBlocks).value_or(0);
  };
  const auto most = std::ranges::max_element(profile.kernels, {}, blocks);
  const double waves = most->at(metric::kWaves).value_or(0);
  constexpr double kFullWave = 0.95;
  if (waves > 0 && waves < kFullWave)
    limits.because.push_back(
        fmt::format("It launches {:.0f} blocks, {:.2f} of a wave: {} of the GPU has nothing to do.",
                    blocks(*most), waves, per_cent(1 - waves)));
  else if (waves > 1 && waves / std::ceil(waves) < kFullWave)
    limits.because.push_back(fmt::format(
        "It launches {:.0f} blocks: {:.1f} waves, and the last one leaves {} of the GPU's time "
        "unused.",
        blocks(*most), waves, per_cent(1 - waves / std::ceil(waves))));
  const auto loads = profile.sum(metric::kLocalLoads), stores = profile.sum(metric::kLocalStores);
  if (loads && stores && *loads + *stores > 0)
    limits.because.push_back(fmt::format(
        "Its warps read or write local memory {:.0f} times: registers that were spilled, or arrays "
        "that are indexed.",
        *loads + *stores));
}

// What the counters say: how much of what it moved it had to move, and what was busiest meanwhile.
void add_profile_sentences(Limits& limits) {
  if (!limits.profile || limits.profile->kernels.empty()) return;
  const GpuProfile& profile = *limits.profile;
  if (limits.launches.empty()) add_seen_launch_sentences(limits, profile);
  const auto read = profile.sum(metric::kRead), written = profile.sum(metric::kWritten);
  if (read && written && limits.bytes > 0) {
    constexpr double kMuchMore = 1.2;  // Partial tiles, descriptors and the driver's own are less.
    const double times = (*read + *written) / limits.bytes;
    limits.because.push_back(fmt::format(
        "ncu counts {} through DRAM in a launch, {:.2f} x the least possible{}",
        bytes_text(*read + *written), times,
        times > kMuchMore ? ": it reads operands again, or keeps partial results there." : "."));
  }
  struct Unit {
    const char* name;
    std::optional<double> busy;
  };
  std::vector<Unit> units = {{"DRAM", profile.mean(metric::kMemory)},
                             {"the L2 cache", profile.mean(metric::kL2)},
                             {"the tensor pipe", profile.mean(metric::kTensor)}};
  std::erase_if(units, [](const Unit& unit) { return !unit.busy; });
  if (units.empty()) return;
  std::ranges::stable_sort(units, [](const Unit& a, const Unit& b) { return *a.busy > *b.busy; });
  std::vector<std::string> others;
  for (size_t i = 1; i < units.size(); ++i)
    others.push_back(fmt::format("{} {}", units[i].name, per_cent(*units[i].busy / 100)));
  const double share = *units.front().busy / 100;
  const std::string rest = others.empty() ? "" : " (" + join(others, ", ") + ")";
  limits.because.push_back(
      share >= kAtCeiling ? fmt::format("By its counters it is bound by {}, busy to {}{}.",
                                        units.front().name, per_cent(share), rest)
      : share >= kFarFromCeiling
          ? fmt::format("By its counters the nearest ceiling is {}, busy to {}{}.",
                        units.front().name, per_cent(share), rest)
          : fmt::format("By its counters nothing is busy: the most is {}, to {}{}; it waits.",
                        units.front().name, per_cent(share), rest));
}

void add_sentences(Limits& limits, const ProblemRecord& problem) {
  const bool warm = problem.condition.cache == "warm";
  limits.because.push_back(
      limits.ceilings.empty()
          ? std::string("No ceiling was measured in this run, so there is none to name.")
          : nearest_sentence(limits.ceilings.front(), warm));
  add_launch_sentences(limits);
  add_profile_sentences(limits);
  // A launch that touches new pages each time pays for them more than for the work.
  if (const auto faults = limits.counts.find("page_faults");
      faults != limits.counts.end() && faults->second >= 1)
    limits.because.push_back(fmt::format(
        "It faults {:.1f} pages at each launch: memory that it allocates anew.", faults->second));
  if (limits.instructions_per_cycle > 0 && limits.instructions_per_cycle < 1)
    limits.because.push_back(fmt::format("{:.2f} instructions a cycle: its cores mostly wait.",
                                         limits.instructions_per_cycle));
}

}  // namespace

Limits limits_of(const RunRecord& record, const ProblemRecord& problem,
                 const KernelOutcome& kernel) {
  Limits limits;
  limits.id = kernel.id;
  limits.label = kernel.label();
  const bool on_gpu = record.environment.device.kind == "gpu";
  limits.threads = on_gpu ? 0 : std::max(record.options.threads, 1);
  limits.launches = kernel.launches;
  if (const auto found = problem.profiles.find(kernel.id); found != problem.profiles.end())
    limits.profile = found->second;
  limits.bytes = problem.bytes;
  if (const Conclusion* conclusion = problem.conclusion())
    limits.us = conclusion->median_us(kernel.id);
  if (limits.us <= 0 && kernel.race && is_timed(kernel.ending)) limits.us = kernel.race->median_us;
  if (limits.us <= 0) {
    limits.failure = is_timed(kernel.ending) ? "has no clean time" : ending_sentence(kernel.ending);
    return limits;
  }
  if (const Confirmation* confirmation = problem.decisive()) {
    if (const auto interval =
            time_interval_us(confirmation->processes, kernel.id, record.options)) {
      limits.low_us = interval->low;
      limits.high_us = interval->high;
    }
  }
  add_ceilings(limits, record, problem);
  add_counts(limits, problem);
  add_sentences(limits, problem);
  return limits;
}

}  // namespace assay
