#include "assay/process/set_turns.h"

#include <algorithm>
#include <numeric>

#include "assay/base/clock.h"
#include "assay/base/random.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace assay::sweep {
namespace {

// A clock whose last bits no code can know ahead: of cycles where there is one.
uint64_t moment() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return static_cast<uint64_t>(monotonic_ns());
#endif
}

}  // namespace

size_t count_outputs(size_t sets, size_t output_bytes, size_t most_bytes) {
  size_t count = std::clamp(most_bytes / std::max<size_t>(output_bytes, 1), kLeastOutputs,
                            std::max(kLeastOutputs, sets));
  while (sets % count != 0) --count;
  return count;
}

std::vector<size_t> SetTurns::rested(uint64_t random) const {
  constexpr size_t kPart = 3;
  std::vector<size_t> sets(last_used_.size());
  std::iota(sets.begin(), sets.end(), size_t{0});
  std::ranges::stable_sort(sets, {}, [&](size_t set) { return last_used_[set]; });
  const CounterRandom numbers{random, 0x7475726e};
  for (size_t i = (sets.size() + kPart - 1) / kPart; i > 1; --i)
    std::swap(sets[i - 1], sets[static_cast<size_t>(numbers.below(i, i))]);
  return sets;
}

std::vector<size_t> SetTurns::choose(size_t wanted, size_t outputs, uint64_t random) {
  const size_t most = std::max<size_t>(1, std::min(last_used_.size() / 2, outputs));
  std::vector<size_t> chosen;
  std::vector<bool> taken(outputs);
  // The others were used too lately (PlanTurns, timed_outputs.h, says so to whoever takes them).
  std::vector<size_t> sets = rested(random);
  sets.resize(sets.size() - std::max<size_t>(sets.size() / 2, 1) + 1);
  for (const size_t set : sets) {
    if (chosen.size() >= std::clamp<size_t>(wanted, 1, most)) break;
    if (taken[set % outputs]) continue;
    taken[set % outputs] = true;
    chosen.push_back(set);
    use(set);
  }
  return chosen;
}

size_t draw_one(std::vector<size_t>& left, uint64_t key) {
  uint64_t mixed = key ^ moment();  // The finaliser of splitmix64 (Steele, Lea and Flood, 2014).
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  const size_t at = (mixed ^ mixed >> 31) % left.size();
  const size_t set = left[at];
  left[at] = left.back();
  left.pop_back();
  return set;
}

bool is_dense(const Operand& operand) {
  size_t elements = 1;
  for (const int64_t size : operand.sizes) elements *= static_cast<size_t>(size);
  return elements * static_cast<size_t>(size_bytes(operand.dtype)) ==
         static_cast<size_t>(operand.span_bytes);
}

bool has_dense_outputs(const Problem& problem) {
  return std::ranges::all_of(problem.operands(), [](const Operand& operand) {
    return operand.access == Access::read || is_dense(operand);
  });
}

}  // namespace assay::sweep
