#include "assay/sweep/stages/count.h"

#include <algorithm>

#include "assay/sweep/stages/station.h"
#include "assay/timing/bursts.h"

namespace assay::sweep {
namespace {

// Counted for about this long: many times what starting and stopping the counters adds to it.
constexpr double kCountedNs = 100e6;
constexpr int kLeastLaunches = 4, kMostLaunches = 2000;

}  // namespace

Result<std::map<std::string, EventCounts>> count_events(const Station& station, Field& field,
                                                        const std::vector<std::string>& finalists) {
  std::map<std::string, EventCounts> counts;
  std::vector<size_t> who;
  for (size_t i = 0; i < field.candidates.size(); ++i)
    if (field.candidates[i].alive() &&
        std::ranges::find(finalists, field.candidates[i].outcome.id) != finalists.end())
      who.push_back(i);
  if (who.empty()) return counts;
  Instances instances(station);
  ASSAY_TRY(instances.commit());
  ASSAY_TRY(instances.make(InputKind::uniform));
  Bursts bursts(station, field, Crew::kRace);
  ASSAY_TRY(bursts.open(instances, who, 5));
  for (size_t i = 0; i < who.size(); ++i) {
    const size_t index = who[i];
    const Candidate& candidate = field.candidates[index];
    station.observer.on_stage("count", i + 1, who.size(), candidate.outcome.label());
    const double wanted = candidate.launch_ns > 0 ? kCountedNs / candidate.launch_ns : 1;
    const int launches =
        static_cast<int>(std::clamp(wanted, double{kLeastLaunches}, double{kMostLaunches}));
    ASSAY_TRY(auto counted, bursts.count(index, launches));
    if (counted) counts.emplace(candidate.outcome.id, std::move(*counted));
  }
  ASSAY_TRY(bursts.unload());
  ASSAY_TRY(instances.drop());
  return counts;
}

}  // namespace assay::sweep
