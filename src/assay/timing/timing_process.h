#pragma once

// One process that times kernels: inputs are loaded there, operands rotate, kernels are open. Calls
// are made to it as long as it lives; whoever brings it down ends, and the others go on in a new
// one.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/keyed_random.h"
#include "assay/measure/burst.h"
#include "assay/process/kept_constants.h"
#include "assay/timing/instances.h"
#include "assay/timing/memory_room.h"
#include "assay/timing/site.h"
#include "assay/watch/around_clock.h"
#include "assay/watch/holdings.h"
#include "assay/watch/processor_time.h"
#include "assay/watch/timed_outputs.h"

namespace assay::sweep {

// A burst of a candidate, an index into the field.
struct BurstSample {
  size_t candidate = 0;
  int64_t ns = 0;
  int64_t outside_ns = 0;  // Of the same by our own clock; 0: unknown.
  int64_t beside_ns = 0;   // Work of the thread that launches, beside it; 0: unknown.
  // Processor time that its process took meanwhile, seen from outside; 0: unknown.
  int64_t ran_least_ns = 0, ran_most_ns = 0;
  bool clean = false;
  int launches = 0;
};

struct BurstRound {
  std::vector<BurstSample> samples;  // In the order that they ran; incomplete if something died.
  std::optional<BurstSample> bare;   // In a chain: links without a kernel.
  bool complete = false;
};

class TimingProcess {
 public:
  // Which of the members it is. `around`: of all of its company.
  TimingProcess(const Site& site, Field& field, size_t company, size_t member,
                std::shared_ptr<AroundClock> around)
      : site_(site),
        field_(field),
        company_(company),
        member_(member),
        around_(std::move(around)),
        random_(KeyedRandom::from_system()) {}

  // Loads instance 0 of `instances`, rotates operands and opens the candidates. One that fails to
  // open, or kills the worker, ends; the worker is replaced.
  Status open(const Instances& instances, const std::vector<size_t>& candidates, uint64_t seed);

  // Adds the bursts of `order`, made in one call, or makes the round incomplete: on cores one, so
  // that each is looked at from outside. A death ends the candidate that was running. Where it
  // cannot be told who that was, nobody ends, and from then on one_by_one() says so.
  Status call_bursts(const std::vector<size_t>& order, uint64_t seed, const std::string& stage,
                     BurstRound& round);
  bool one_by_one() const { return one_by_one_ || is_on_cores(); }

  // As of Bursts.
  Result<std::optional<BurstSample>> block(size_t candidate, double seconds);
  Result<std::optional<EventCounts>> count(size_t candidate, int launches);
  Status judge(const Instances& instances, size_t candidate) {
    return judge(instances, candidate, true);
  }
  Status close(const std::vector<size_t>& who);
  Status unload();

  // Nothing of it runs until it is called again. Whoever keeps it from standing still ends.
  Status park();

  // Its kernels are open again, where it was brought down after its answers.
  Status revive();

  Result<Child*> worker();  // Alive.
  bool is_open(size_t candidate) const { return handles_.count(candidate) != 0; }
  int sets() const { return sets_; }
  const measure::TimerFacts& timer() const { return timer_; }
  const std::string& cold_doubt() const { return cold_doubt_; }
  const std::vector<double>& bare_ns() const { return bare_ns_; }
  // What all bursts took by the worker's clock, what all calls took by ours, and how many.
  double timed_ns() const { return timed_ns_; }
  double wall_ns() const { return wall_ns_; }
  int bursts() const { return bursts_; }

 private:
  bool is_on_cores() const { return site_.venue.is_cpu(); }
  Status load();
  Status load_and_open(const std::vector<size_t>& candidates);
  Status open_one(size_t candidate);
  Status remember_constants();
  Status recover(const std::vector<size_t>& order, const Ending& ending);
  // Ends the candidates of a call whose answer, or whose worker's clocks, are not what they must
  // be.
  Status end_call(const std::vector<size_t>& order, const Ending& ending, const char* why,
                  BurstRound& round);
  Status end_early(const std::vector<size_t>& order, const process::Round::Answer& answer,
                   BurstRound& round);
  class Memory;
  static constexpr double kOpenSeconds = 120;
  static constexpr const char* kWorkWentOn = "work went on there after the clock had stopped";

  Status judge(const Instances& instances, size_t candidate, bool launch_again);
  // Outputs of its last burst, and what they are of: of a user's kernel on cores all of them, of
  // others one, which is drawn now. None where the burst was in a worker that is gone.
  struct Looked {
    std::vector<std::pair<Instances::Timed, SeenOutput>> outputs;
    std::vector<UniqueFd> files;  // Of the same.
    std::string late;             // What went on behind the clock.
  };
  CallResult<std::optional<Looked>> look_at_outputs(size_t candidate);
  CallResult<std::optional<Looked>> look_on_cores(size_t candidate);
  // Who ran last there, if outputs of that burst are not what they were behind its clock.
  Result<std::optional<size_t>> find_late_work();
  void forget_outputs(size_t candidate);  // Something else is launched there.
  // None where they cannot lie there.
  std::optional<TimedOutputs> outputs_at(std::vector<uint64_t> places) const;
  // What somebody did to the inputs that all share, if somebody did.
  Result<std::optional<ending::Violation>> look_at_inputs();
  Status find_changer();
  void tell_holdings();
  std::vector<size_t> all_open() const;

  const Site& site_;
  Field& field_;
  size_t company_, member_;
  std::shared_ptr<AroundClock> around_;
  KeyedRandom random_;  // Workers see some of what it gives.
  const Instances* instances_ = nullptr;
  Child* worker_ = nullptr;
  uint64_t seed_ = 1;
  int sets_ = 0;
  std::string cold_doubt_;
  std::map<size_t, int> handles_;
  MemoryRoom room_;                                 // Over all workers.
  std::map<size_t, ProcessorTime> processor_time_;  // In this worker.
  std::map<size_t, TimedOutputs> outputs_;          // Of those that are open, on cores.
  std::optional<KeptConstants> constants_;          // Of a user's process, as it opened them.
  bool constants_changed_ = false;                  // While a burst was made ready.
  PlanTurns turns_;                                 // Of the sets of this worker.
  int64_t late_stops_ns_ = 0;                       // While it was to stand still, in this worker.
  std::optional<Holdings> held_;                    // By a user's process before kernels opened.
  std::optional<size_t> last_;                      // Whose burst was the last one there.
  bool one_by_one_ = false;
  bool tainted_ = false;  // The process, by a user's code.
  int calls_ = 0;         // Of bursts, since open().
  measure::TimerFacts timer_;
  std::vector<double> bare_ns_;  // Of one link, clean ones.
  double timed_ns_ = 0, wall_ns_ = 0;
  int bursts_ = 0;
};

}  // namespace assay::sweep
