#pragma once

// Which kernels of a problem take part where not all of them can be compiled: the place for a
// ranker's order.

#include <cstdint>
#include <span>
#include <vector>

#include "configuration.h"

namespace assay::cutlass {

struct Candidate {
  const Design* design = nullptr;
  const Operands* operands = nullptr;
  bool ready = false;  // Compiled already.
};

// Smaller is sooner. Knows no problem: what most often wins for shapes of transformers comes first,
// and is what scripts/build-cutlass-pool builds.
int preference(const Design& design, const Operands& operands);

// By candidate: those that are ready, and of the others the first `most_builds` (-1: all) by
// preference, then by their place.
std::vector<bool> choose(std::span<const Candidate> candidates, int64_t most_builds);

}  // namespace assay::cutlass
