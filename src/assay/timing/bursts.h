#pragma once

// Bursts of candidates in the processes of one company: stock kernels and ours in one, what each
// user's file brings in one of its own, on the same cores, all but one of them frozen. Rounds are
// in random order over all of them.

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "assay/timing/timing_process.h"

namespace assay::sweep {

class Bursts {
 public:
  using Sample = BurstSample;
  using Round = BurstRound;

  Bursts(const Site& site, Field& field, size_t company)
      : site_(site), field_(field), company_(company), random_(KeyedRandom::from_system()) {}

  // Loads instance 0 of `instances`, rotates operands and opens the candidates (indices into the
  // field). One that fails to open, or kills its process, ends; the process is replaced. Stock
  // kernels open before any process of a user begins.
  Status open(const Instances& instances, const std::vector<size_t>& candidates, uint64_t seed) {
    const Status opened = open_stock(instances, candidates, seed);
    return opened ? open_guests() : opened;
  }
  // The same in two steps, between which no user's process is alive; nor is one behind the last.
  Status open_stock(const Instances& instances, const std::vector<size_t>& candidates,
                    uint64_t seed);
  Status open_guests();
  Status dismiss_guests();
  // Ahead of open_guests(), those processes alone that these candidates are in; and all but those
  // end.
  Status open_guests_of(const std::vector<size_t>& candidates);
  Status dismiss_guests_but(const std::vector<size_t>& candidates);
  bool has_guests() const { return processes_.size() > 1; }

  // One burst of each candidate still open among `who`, in random order. A death ends the candidate
  // that was running, and gives an incomplete round. strangers: ahead of each burst its process
  // stands still while we use its cores, as another process of a company would.
  enum class Ahead { nothing, strangers };
  Result<Round> round(const std::vector<size_t>& who, const std::string& stage,
                      Ahead ahead = Ahead::nothing);

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

  // The process of an open candidate, alive, all others being frozen: more than bursts can be asked
  // of it there.
  Result<Child*> turn_to_worker_of(size_t candidate);

  Status close(const std::vector<size_t>& who);
  Status unload();

  double seconds() const;  // Of all bursts, by the parent's clock.
  // What one burst took beside its launches: waiting for quiet, flushing, switching.
  double overhead_ns() const;
  const measure::TimerFacts& timer() const { return processes_.front()->timer(); }
  int sets() const { return processes_.front()->sets(); }
  // Why operands may not have been cold; empty where they were, or need not be.
  const std::string& cold_doubt() const;
  bool is_open(size_t candidate) const;
  // Of the company's: 0 holds stock kernels and ours.
  size_t process_number(size_t candidate) const { return home_.at(candidate); }

 private:
  // Which of the company's processes each candidate is in.
  void assign(const std::vector<size_t>& candidates);
  TimingProcess& process_of(size_t candidate) { return *processes_[home_.at(candidate)]; }
  Status open_process(size_t process);
  std::set<size_t> processes_of(const std::vector<size_t>& candidates) const;
  // Freezes all others.
  Result<TimingProcess*> turn_to(size_t process);

  const Site& site_;
  Field& field_;
  size_t company_;
  KeyedRandom random_;  // Workers see some of what it gives.
  std::vector<std::unique_ptr<TimingProcess>> processes_;
  std::map<size_t, size_t> home_;
  std::set<size_t> begun_;  // Processes of users.
  const Instances* instances_ = nullptr;
  uint64_t seed_ = 1;
  double switching_ns_ = 0;
};

}  // namespace assay::sweep
