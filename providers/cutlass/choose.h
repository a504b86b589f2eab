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

// By candidate: the first `most` (-1: all) by preference, then by their place, ready or not, so
// that a second run compiles nothing; and besides them all that are ready.
std::vector<bool> choose(std::span<const Candidate> candidates, int64_t most);

}  // namespace assay::cutlass
