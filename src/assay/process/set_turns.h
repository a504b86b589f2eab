#pragma once

// The operand sets and outputs that launches take in turns, as far as they are the same story on
// the host (worker/cpu/problem.cc) and on a GPU (worker/gpu/rotation.cc, worker/gpu/bursts.cc).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/op/problem.h"

namespace assay::sweep {

inline constexpr int kLeastSets = 4;         // Placements per process and problem; docs/method.md.
inline constexpr double kCacheMultiple = 3;  // Caches are hardly LRU; docs/method.md.
inline constexpr size_t kLeastOutputs = 2;   // That launches of one kernel go round.

// How many outputs those are: what fits into `most_bytes`, and a divisor of the number of sets, so
// that as many launches in a row never share one.
size_t count_outputs(size_t sets, size_t output_bytes, size_t most_bytes);

// Who is next among sets that take turns: those that have rested longest, and which of them nobody
// knows ahead.
class SetTurns {
 public:
  explicit SetTurns(size_t sets) : last_used_(sets) {}

  // All of them: a third, of those that have rested longest, in random order, then the others.
  std::vector<size_t> rested(uint64_t random) const;
  void use(size_t set) { last_used_[set] = ++time_; }

  // For a burst whose launches write output `set` modulo `outputs`: different sets with different
  // outputs, as many as are asked for, but no more than half of the sets, or than outputs, and at
  // least one. Since each was used, half of the others were, or less are chosen. They are used in
  // the order in which they are returned (PlanTurns holds whoever launches to it).
  // outputs divides the number of sets.
  std::vector<size_t> choose(size_t wanted, size_t outputs, uint64_t random);

 private:
  std::vector<uint64_t> last_used_;
  uint64_t time_ = 0;
};

// Takes one of `left` out, at random. Which one is decided by the moment of the call: code that ran
// before it cannot know, whatever it can read.
size_t draw_one(std::vector<size_t>& left, uint64_t key);

// Whether its elements leave no gaps: only then are equal bytes of two launches equal values, since
// gaps keep their poison, which differs between launches.
bool is_dense(const Operand& operand);
bool has_dense_outputs(const Problem& problem);

}  // namespace assay::sweep
