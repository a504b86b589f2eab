#include "assay/compare/timing_claims.h"

#include <set>

#include <fmt/format.h>

namespace assay {
namespace {

class Timing {
 public:
  std::vector<Contradiction> find(const ProblemRecord& recorded) {
    if (recorded.race) check(*recorded.race, recorded.kernels);
    for (const Confirmation& confirmation : recorded.confirmations) check(confirmation);
    return std::move(found_);
  }

 private:
  void say(std::string what, const std::string& recorded, const std::string& made) {
    found_.push_back({std::move(what), recorded, made});
  }
  void at_most(std::string what, int recorded, int most) {
    if (recorded > most)
      say(std::move(what), fmt::to_string(recorded), fmt::format("at most {}", most));
  }

  void check(const RaceRecord& race, const std::vector<KernelOutcome>& kernels) {
    int dropped = 0;
    for (const KernelOutcome& kernel : kernels) {
      if (!kernel.race) continue;
      const RaceSummary& own = *kernel.race;
      const std::string of = " of " + kernel.label() + " in the race";
      at_most("rounds" + of, own.rounds, race.rounds);
      at_most("clean rounds" + of, own.clean_rounds, own.rounds);
      if (own.dropped_after > 0) ++dropped;
      if (own.dropped_after > 0 && own.dropped_after != own.rounds)
        say("rounds" + of, fmt::to_string(own.rounds),
            fmt::format("{}, after which it was dropped", own.dropped_after));
      if (own.reason.empty() && own.dropped_after > 0)
        say("reason" + of, own.reason, "why it was dropped");
      // Whoever had no clean round has a reason, too, and may be confirmed all the same.
      if (!own.reason.empty() && own.dropped_after == 0 && own.clean_rounds > 0)
        say("reason" + of, own.reason, "nothing");
      if (is_timed(kernel.ending) && own.clean_rounds > 0 && !(own.median_us > 0))
        say("median_us" + of, fmt::to_string(own.median_us), "a time: it has clean rounds");
    }
    if (dropped != race.dropped)
      say("dropped in the race", fmt::to_string(race.dropped), fmt::to_string(dropped));
    at_most("spoiled rounds of the race", race.spoiled_rounds, race.rounds);
  }

  void check(const Confirmation& confirmation) {
    at_most("rounds of a confirmation", confirmation.rounds, confirmation.wanted_rounds);
    for (const ProcessSamples& process : confirmation.processes) {
      if (static_cast<int>(process.rounds()) != confirmation.rounds)
        say("rounds of a confirmation", fmt::to_string(confirmation.rounds),
            fmt::to_string(process.rounds()));
      // Each process draws its own: samples that are there twice are no more evidence than once.
      if (!process.seed.empty() && !seeds_.insert(process.seed).second)
        say("seeds of processes", process.seed + " twice", "each once");
    }
  }

  std::set<std::string> seeds_;
  std::vector<Contradiction> found_;
};

}  // namespace

std::vector<Contradiction> find_timing_contradictions(const ProblemRecord& recorded) {
  return Timing().find(recorded);
}

}  // namespace assay
