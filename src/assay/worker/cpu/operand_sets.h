#pragma once

// The operands that timed launches of a CPU read, in sets that launches take in turns. Every set
// has numbers of its own: what a kernel keeps of one set is of no use for another, and a set is
// cold if nothing of it was used for a while.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/measure/cold_probe.h"
#include "assay/measure/condition.h"
#include "assay/op/operation.h"
#include "assay/process/kept_constants.h"
#include "assay/verify/guard.h"

namespace assay::sweep {

class OperandSets {
 public:
  struct Numbers {
    uint64_t key = 0;        // Of constants: set_seed() (op/renewal.h) gives each set's seed.
    uint64_t placement = 0;  // Where in memory sets lie.
  };
  // Errors: no memory (machine).
  static Result<OperandSets> create(const Problem& problem, Device& device,
                                    const measure::Condition& condition, const Numbers& numbers);

  size_t count() const { return sets_.size(); }
  // Whether they are flushed to be cold, and how many bytes all of that are.
  bool flushes() const { return flushes_; }
  size_t flushed_bytes() const;
  // By operand; null for outputs.
  std::span<void* const> data(size_t set) const {
    return std::span(data_).subspan(set * operands(), operands());
  }

  // Fresh numbers for what varies from launch to launch. Where everything read is to be cold, they
  // are dropped from the caches; nothing else is.
  void renew(size_t set, uint64_t seed);
  // Drops from the caches what the condition calls cold, and `panels` with it, if sets are so few
  // that taking turns does not do it.
  void cool(size_t set, std::span<const std::byte> panels) const;
  // The same whatever turns do.
  void make_cold(size_t set, std::span<const std::byte> panels) const;

  // Why operands may not be cold when a launch reads them; empty where they are, or need not be.
  const std::string& cold_doubt() const { return cold_doubt_; }
  // Whether every set holds what was put there. Reads all of them.
  bool intact() const;
  // What nothing changes as long as this is.
  ConstantBytes constants() const;
  // Where bytes beside them were written since the last call.
  std::optional<verify::GuardedArena::Trespass> find_trespass() { return arena_.find_trespass(); }

 private:
  struct Set {
    uint64_t seed = 0;
    std::vector<uint64_t> hashes;  // By operand, of constants.
  };

  OperandSets(Problem problem, const Operation& operation, const measure::Condition& condition)
      : problem_(std::move(problem)), operation_(operation), condition_(condition) {}
  size_t operands() const { return problem_.operands().size(); }
  InputSeeds seeds(size_t set) const { return {sets_[set].seed, launch_seeds_[set]}; }
  std::span<std::byte> bytes(size_t set, size_t operand) const;
  enum class Which { all, varying };
  void drop(size_t set, Which which = Which::all) const;
  struct Reads {
    measure::ColdProbe probe;
    size_t bytes = 0;  // Of one set.
  };
  Reads read_cold() const;
  std::string check_cold(size_t last_level_cache_bytes) const;

  Problem problem_;
  const Operation& operation_;
  measure::Condition condition_;
  uint64_t hash_seed_ = 0;
  verify::GuardedArena arena_;
  std::vector<Set> sets_;
  std::vector<void*> data_;             // By set, then by operand.
  std::vector<uint64_t> launch_seeds_;  // By set; 0 before the first renewal.
  bool flushes_ = false;                // Sets are too few to be cold by turns alone.
  std::string cold_doubt_;
};

}  // namespace assay::sweep
