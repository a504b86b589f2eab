#pragma once

// The outputs of an open kernel's bursts, as they are known and read from outside of its process:
// where they lie was said before it was launched, which launches a burst has before its clock
// started, and what lay there just behind the clock. Which of them is looked at is drawn here.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/process/told_launches.h"
#include "assay/watch/processor_time.h"

namespace assay::sweep {

inline constexpr const char* kOutputChanged =
    "an output changed after its launch had returned and the clock had stopped";

// Memory of the process that holds the outputs.
class OutputMemory {
 public:
  virtual ~OutputMemory() = default;
  // `bytes` from `offset` on of the output that this plan writes, which lies at `address`. Errors:
  // there is no such memory any more.
  virtual Result<std::vector<std::byte>> read(size_t plan, uint64_t address, size_t offset,
                                              size_t bytes) = 0;
};

class TimedOutputs {
 public:
  // Plans go round the places, of so many bytes each. None where places overlap, or are none.
  static std::optional<TimedOutputs> at(std::vector<uint64_t> places, size_t bytes, size_t plans);

  // A burst of so many launches was told of. False where it was told what no burst has: other
  // launches than it had, one that does not exist, two into one output, or inputs that were not
  // made from the number that was answered.
  bool hear(const BurstMoments& moments, int launches);
  // The outputs are no longer those of the last burst that was heard of.
  void forget() { stretches_.clear(); }

  // Of the last burst, in the order that they were told.
  std::vector<ToldLaunch> launches() const;
  // The plans of all of its launches, the one that led in included.
  const std::vector<uint64_t>& plans_used() const { return plans_used_; }
  // Whether outputs of that burst are not what they were just behind its clock. An error says that
  // they cannot be read.
  Result<bool> changed(OutputMemory& memory) const;
  Result<std::vector<std::byte>> read(OutputMemory& memory, const ToldLaunch& launch) const;

 private:
  struct Stretch {
    std::vector<ToldLaunch> launches;
    ToldDigest digest;
  };
  std::optional<Stretch> read_stretch(const BurstMoments::Stretch& told, std::set<uint64_t>& used);
  uint64_t place_of(uint64_t plan) const { return places_[plan % places_.size()]; }

  std::vector<uint64_t> places_;
  size_t bytes_ = 0, plans_ = 0;
  std::vector<Stretch> stretches_;
  std::vector<uint64_t> plans_used_;
};

// Whether launches go round the operand sets of a process, as SetTurns (process/set_turns.h) lets
// them: before a set's turn comes again, half of the others have had theirs. Who went round a few
// of them would find these in a cache.
class PlanTurns {
 public:
  explicit PlanTurns(size_t plans = 0) : last_used_(plans) {}

  // Of the next burst, of any of the kernels there. False where one came too soon.
  bool take(const std::vector<uint64_t>& plans);
  // Something was launched there that nobody told.
  void forget() { last_used_.assign(last_used_.size(), 0); }

 private:
  std::vector<uint64_t> last_used_;
  uint64_t time_ = 0;
};

}  // namespace assay::sweep
