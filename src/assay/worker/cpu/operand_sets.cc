#include "assay/worker/cpu/operand_sets.h"

#include <algorithm>
#include <array>
#include <utility>

#include "assay/base/hash.h"
#include "assay/measure/flush.h"
#include "assay/process/set_turns.h"
#include "assay/worker/input_places.h"

namespace assay::sweep {
namespace {

// More sets than this, or of more bytes, would fill the memory with copies of every layout that
// operands are packed into: then each set is flushed from the caches after its use, and a few of
// them do.
constexpr int kMostSets = 64;
constexpr double kMostBytes = 0x1.8p28;  // Three times the caches of most machines.
constexpr double kFlushedBytes = 0x1p27;
constexpr int kLeastFlushedSets = 16;

// Between strided elements, as in an instance's inputs: a NaN of every float format.
constexpr std::byte kFiller{0xff};

struct Count {
  int sets = kLeastSets;
  bool flushes = false;
};

Count count_sets(double cold_bytes, double cache_bytes) {
  Count count;
  if (cold_bytes > 0) {
    const double wanted = kCacheMultiple * cache_bytes / cold_bytes;
    count.flushes =
        measure::flush_from_caches({}) &&
        (wanted > kMostSets || (kCacheMultiple * cache_bytes > kMostBytes && wanted > kLeastSets));
    count.sets = count.flushes
                     ? std::clamp(static_cast<int>(std::min(kFlushedBytes / cold_bytes, 1e6)),
                                  kLeastFlushedSets, kMostSets)
                     : std::max(count.sets, static_cast<int>(std::min(wanted, 1e6)) + 1);
  }
  count.sets += count.sets % 2;  // Half of them, and outputs by twos, are whole numbers.
  return count;
}

}  // namespace

Result<OperandSets> OperandSets::create(const Problem& problem, Device& device,
                                        const measure::Condition& condition,
                                        const Numbers& numbers) {
  ASSAY_TRY(const Operation* operation, find_operation(problem.operation()));
  OperandSets made(problem, *operation, condition);
  made.hash_seed_ = numbers.placement;
  const auto operands = made.problem_.operands();
  double cold_bytes = 0;
  for (const Operand& operand : operands)
    if (measure::is_cold(operand, condition)) cold_bytes += static_cast<double>(operand.span_bytes);
  const auto cache_bytes = static_cast<size_t>(device.last_level_cache_bytes());
  const bool warm = condition.cache == measure::Cache::warm;
  const Count count =
      warm ? Count{1, false} : count_sets(cold_bytes, static_cast<double>(cache_bytes));
  made.flushes_ = count.flushes;

  std::vector<size_t> sizes;
  for (int s = 0; s < count.sets; ++s)
    for (size_t i = 0; i < operands.size(); ++i)
      if (is_input(operands[i])) sizes.push_back(static_cast<size_t>(operands[i].span_bytes));
  ASSAY_TRY(made.arena_, verify::GuardedArena::allocate(device, sizes, numbers.placement));
  size_t at = 0;
  for (int s = 0; s < count.sets; ++s) {
    Set& set = made.sets_.emplace_back();
    set.seed = set_seed(numbers.key, static_cast<size_t>(s));
    made.launch_seeds_.push_back(0);
    for (size_t i = 0; i < operands.size(); ++i) {
      set.hashes.push_back(0);
      made.data_.push_back(nullptr);
      if (!is_input(operands[i])) continue;
      const std::span<std::byte> to = made.arena_.at(at++);
      made.data_.back() = to.data();
      std::ranges::fill(to, kFiller);
      assay::renew(operation->renewal(problem, i, made.seeds(static_cast<size_t>(s))), to);
      if (!varies(operands[i])) set.hashes.back() = fast_hash(to, made.hash_seed_);
    }
  }
  if (cold_bytes > 0) made.cold_doubt_ = made.check_cold(cache_bytes);
  if (!made.cold_doubt_.empty() && !made.flushes_ && measure::flush_from_caches({})) {
    made.flushes_ = true;
    made.cold_doubt_ = made.check_cold(cache_bytes);
  }
  return made;
}

ConstantBytes OperandSets::constants() const {
  return {bytes_of(*this), std::as_bytes(std::span(sets_)), std::as_bytes(std::span(data_)),
          std::as_bytes(problem_.operands())};
}

std::span<std::byte> OperandSets::bytes(size_t set, size_t operand) const {
  return {static_cast<std::byte*>(data(set)[operand]),
          static_cast<size_t>(problem_.operands()[operand].span_bytes)};
}

void OperandSets::renew(size_t set, uint64_t seed) {
  const uint64_t before = std::exchange(launch_seeds_[set], seed);
  for (size_t i = 0; i < operands(); ++i) {
    if (!varies(problem_.operands()[i])) continue;
    const Renewal renewal = operation_.renewal(problem_, i, seeds(set));
    if (renewal.flip_key != 0)
      flip_again(renewal, before, seed, bytes(set, i));
    else
      assay::renew(renewal, bytes(set, i));
  }
  // What was just written lies in a cache, however many sets there are.
  if (condition_.cache == measure::Cache::cold) drop(set, Which::varying);
}

void OperandSets::cool(size_t set, std::span<const std::byte> panels) const {
  if (flushes_) make_cold(set, panels);
}

void OperandSets::make_cold(size_t set, std::span<const std::byte> panels) const {
  drop(set);
  measure::flush_from_caches(panels);
}

size_t OperandSets::flushed_bytes() const {
  size_t bytes = 0;
  for (const Operand& operand : problem_.operands())
    if (flushes_ && is_input(operand) && measure::is_cold(operand, condition_))
      bytes += static_cast<size_t>(operand.span_bytes) * sets_.size();
  return bytes;
}

void OperandSets::drop(size_t set, Which which) const {
  for (size_t i = 0; i < operands(); ++i) {
    const Operand& operand = problem_.operands()[i];
    if (data(set)[i] != nullptr && measure::is_cold(operand, condition_) &&
        (which == Which::all || varies(operand)))
      measure::flush_from_caches(bytes(set, i));
  }
}

// Reads what launches would, as they would find it.
OperandSets::Reads OperandSets::read_cold() const {
  constexpr size_t kSets = 8;
  const auto operands = problem_.operands();
  std::vector<measure::Regions> regions;
  Reads reads;
  for (size_t s = 0; s < std::min(kSets, sets_.size()); ++s) {
    cool(s, {});
    measure::Regions& set = regions.emplace_back();
    reads.bytes = 0;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (data(s)[i] == nullptr || !measure::is_cold(operands[i], condition_)) continue;
      set.push_back(bytes(s, i));
      reads.bytes += set.back().size();
    }
  }
  reads.probe = measure::probe_reads(regions);
  // The first launches must not find what was read here.
  for (size_t s = 0; s < regions.size(); ++s) drop(s);
  return reads;
}

// A neighbour's moment makes one look doubtful: then the median of three decides.
std::string OperandSets::check_cold(size_t last_level_cache_bytes) const {
  const Reads first = read_cold();
  const auto doubt_of = [&](const measure::ColdProbe& probe) {
    return measure::doubt_of_cold(probe, first.bytes, last_level_cache_bytes);
  };
  if (doubt_of(first.probe).empty()) return {};
  std::array looks = {first.probe, read_cold().probe, read_cold().probe};
  const auto median_of = [&](double measure::ColdProbe::*what) {
    std::ranges::nth_element(looks, looks.begin() + looks.size() / 2, {}, what);
    return looks[looks.size() / 2].*what;
  };
  return doubt_of(
      {median_of(&measure::ColdProbe::cold_ns), median_of(&measure::ColdProbe::warm_ns)});
}

bool OperandSets::intact() const {
  std::vector<std::byte> expected;
  for (size_t s = 0; s < sets_.size(); ++s) {
    for (size_t i = 0; i < operands(); ++i) {
      if (data(s)[i] == nullptr) continue;
      const std::span<const std::byte> found = bytes(s, i);
      if (!varies(problem_.operands()[i])) {
        if (fast_hash(found, hash_seed_) != sets_[s].hashes[i]) return false;
      } else {
        expected.assign(found.size(), kFiller);
        assay::renew(operation_.renewal(problem_, i, seeds(s)), expected);
        if (!std::ranges::equal(found, expected)) return false;
      }
    }
  }
  return true;
}

}  // namespace assay::sweep
