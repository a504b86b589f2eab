#pragma once

// Bursts of candidates in one worker: opened kernels, rounds in random order, and the parent's own
// clock around each round.

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "assay/measure/burst.h"
#include "assay/sweep/instances.h"
#include "assay/sweep/stages.h"

namespace assay::sweep {

class Bursts {
 public:
  Bursts(const Station& station, Field& field)
      : station_(station), field_(field), random_(std::random_device{}()) {}

  // Loads instance 0 of `instances`, rotates operands and opens the candidates (indices into the
  // field). One that fails to open, or kills the worker, ends; the worker is replaced.
  // `worker` gives the process to use: called again after a death.
  using WorkerSource = std::function<Result<Child*>()>;
  Status open(const Instances& instances, std::vector<size_t> candidates, WorkerSource source,
              uint64_t seed);

  struct Sample {
    size_t candidate = 0;  // Index into the field.
    int64_t ns = 0;
    bool clean = false;
    int launches = 0;
  };
  struct Round {
    std::vector<Sample> samples;  // In the order that they ran; incomplete if something died.
    std::optional<Sample> bare;   // In a chain: links without a kernel.
    bool complete = false;
  };
  // One burst of each candidate still open among `who`, in random order. A death ends the candidate
  // that was running, reopens the rest in a new worker, and gives an incomplete round. Where it
  // cannot be told who that was, nobody ends, and from then on each burst is a call of its own.
  Result<Round> round(const std::vector<size_t>& who, const std::string& stage);

  // Of one launch; in a chain less what bare links took so far. Above 0.
  double launch_ns(const Sample& sample) const;

  // Launches of an open candidate behind one another for that long. Nothing where it did not get
  // through: it has ended.
  Result<std::optional<Sample>> block(size_t candidate, double seconds);

  // What the processor counts in `launches` launches of an open candidate. Nothing where the worker
  // did not survive it, or said what no worker says: a count is no claim, and ends nobody.
  Result<std::optional<EventCounts>> count(size_t candidate, int launches);

  // Judges one timed output of a candidate, any that is still there; a wrong one ends it.
  Status judge_timed_output(const Instances& instances, size_t candidate);
  // The same of each of `who` with that chance, between rounds: when, no kernel can know.
  Status judge_some(const Instances& instances, const std::vector<size_t>& who, double chance);

  Status close(const std::vector<size_t>& who);
  Status unload();

  double seconds() const { return wall_ns_ * 1e-9; }  // Of all bursts, by the parent's clock.
  // What one burst took beside its launches: waiting for quiet, flushing, switching.
  double overhead_ns() const { return bursts_ > 0 ? (wall_ns_ - timed_ns_) / bursts_ : 0; }
  const measure::TimerFacts& timer() const { return timer_; }
  int sets() const { return sets_; }
  // Why operands may not have been cold; empty where they were, or need not be.
  const std::string& cold_doubt() const { return cold_doubt_; }
  bool is_open(size_t candidate) const;

 private:
  Status load();
  Status load_and_open(const std::vector<size_t>& candidates);
  Status call_bursts(const std::vector<size_t>& order, int64_t seed, const std::string& stage,
                     Round& round);
  Status recover(const std::vector<size_t>& order, const Ending& ending);
  Status open_one(size_t candidate);
  Status judge(const Instances& instances, size_t candidate, bool launch_again);
  // What somebody did to the inputs that all share, if somebody did.
  Result<std::optional<ending::Violation>> look_at_inputs();
  Status find_changer();

  const Station& station_;
  Field& field_;
  std::mt19937_64 random_;
  const Instances* instances_ = nullptr;
  WorkerSource source_;
  Child* worker_ = nullptr;
  uint64_t seed_ = 1;
  int sets_ = 0;
  std::string cold_doubt_;
  std::map<size_t, int> handles_;
  bool one_by_one_ = false;
  bool tainted_ = false;  // The process, by a user's code.
  int rounds_ = 0;        // Since open().
  measure::TimerFacts timer_;
  std::vector<double> bare_ns_;  // Of one link, clean ones.
  double timed_ns_ = 0, wall_ns_ = 0;
  int bursts_ = 0;
};

}  // namespace assay::sweep
