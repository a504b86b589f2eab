#pragma once

// The self-check of a cold condition (docs/method.md): are operands that were last used a turn ago
// really read from memory?

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace assay::measure {

// Medians over regions, nanoseconds: the first read of each, and the faster of two at once after
// it. Reads by one thread, one word of each cache line.
struct ColdProbe {
  double cold_ns = 0, warm_ns = 0;
};
using Regions = std::vector<std::span<const std::byte>>;  // What one launch would read.
ColdProbe probe_reads(std::span<const Regions> sets);

// Why the reads were not those of cold memory; empty where they were, and where the `bytes` of one
// set are so many that the cache could not have kept them anyway.
std::string doubt_of_cold(const ColdProbe& probe, size_t bytes, size_t last_level_cache_bytes);

}  // namespace assay::measure
