#pragma once

// All that cuBLASLt can be told to do for a problem: its algorithms with every tile, stages, split
// of k ... that its own check accepts.
//
// The product of all attributes is far too large to be asked about (a hundred tiles, thirty stages,
// fifty clusters ...). So a tile with its stages and its inner shape comes first, with everything
// else as the library documents it to be where nothing is said; what is accepted so is the ground
// for the options: cluster, custom option, swizzle, split of k with its reduction. Each option is
// tried alone on its ground, and of those that are accepted every combination is tried.

#include <cstdint>
#include <vector>

#include "assay/kernel/provider.h"
#include "assay/kernel/refusals.h"
#include "call.h"

namespace assay::cublaslt {

// settings["space"].
struct SpaceChoice {
  bool all = false;  // Not only what the heuristic answers.
  int64_t most = 0;  // Of the others, as many kernels; 0: every one.

  // ErrorCode::invalid_input.
  static Result<SpaceChoice> parse(const ProviderSettings& settings);
};

// Of one problem. A check takes microseconds, and who looks for kernels waits two minutes.
inline constexpr int64_t kMostChecks = 1'000'000;

struct Space {
  std::vector<AlgorithmValues> accepted;  // In the order of the library's numbers, each once.
  RefusalCounts refusals;  // Of what was tried; under Reason::other what was left untried.
  int64_t checks = 0;
};

// Each algorithm has an equal share of the checks; what one does not need is for those behind it.
Result<Space> walk_space(const Matmul& matmul, int64_t most_checks);

// `most` of them, evenly spread, in their order; all where there are no more, or `most` is 0.
std::vector<AlgorithmValues> spread(std::vector<AlgorithmValues> values, int64_t most);

}  // namespace assay::cublaslt
