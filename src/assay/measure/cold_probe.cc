#include "assay/measure/cold_probe.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/text.h"

namespace assay::measure {
namespace {

// Memory gives half of the last-level cache's bandwidth, or less, on every machine that was
// measured; a neighbour's noise takes some of that difference away.
constexpr double kLeastRatio = 1.25;

double read_ns(const Regions& regions) {
  constexpr size_t kLine = 64;
  const int64_t start = monotonic_ns();
  uint64_t sum = 0;
  for (const auto& region : regions) {
    for (size_t at = 0; at + sizeof(uint64_t) <= region.size(); at += kLine) {
      uint64_t word;
      std::memcpy(&word, region.data() + at, sizeof word);
      sum += word;
    }
  }
  asm volatile("" : : "r"(sum) : "memory");
  return static_cast<double>(monotonic_ns() - start);
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

ColdProbe probe_reads(std::span<const Regions> sets) {
  std::vector<double> cold, warm;
  for (const Regions& regions : sets) {
    cold.push_back(read_ns(regions));
    const double again = read_ns(regions);
    warm.push_back(std::min(again, read_ns(regions)));
  }
  if (cold.empty()) return {};
  return {median(cold), median(warm)};
}

std::string doubt_of_cold(const ColdProbe& probe, size_t bytes, size_t last_level_cache_bytes) {
  if (last_level_cache_bytes > 0 && bytes > last_level_cache_bytes / 2) return {};
  if (probe.cold_ns >= kLeastRatio * probe.warm_ns) return {};
  return fmt::format(
      "reading {} took {} cold and {} warm: caches may have kept what should come from memory",
      format_bytes(static_cast<double>(bytes)), format_duration(probe.cold_ns * 1e-9),
      format_duration(probe.warm_ns * 1e-9));
}

}  // namespace assay::measure
