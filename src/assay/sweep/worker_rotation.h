#pragma once

// The operand sets and outputs that launches go round, as far as they are the same story on the
// host (worker_problem.cc) and on a card (card_rotation.cc, card_bursts.cc).

#include <cstddef>

#include "assay/op/problem.h"

namespace assay::sweep {

inline constexpr int kLeastSets = 4;         // Placements per process and problem; docs/method.md.
inline constexpr double kCacheMultiple = 3;  // Caches are hardly LRU; docs/method.md.
inline constexpr size_t kLeastOutputs = 2;   // That launches of one kernel go round.

// How many outputs those are: what fits into `most_bytes`, and a divisor of the number of sets, so
// that as many launches in a row never share one.
size_t count_outputs(size_t sets, size_t output_bytes, size_t most_bytes);

// Whether its elements leave no gaps: only then are equal bytes of two launches equal values, since
// gaps keep their poison, which differs between launches.
bool is_dense(const Operand& operand);

}  // namespace assay::sweep
