// What a process that runs candidates says of its bursts.

#include "assay/sweep/told_bursts.h"

#include <cstdlib>

#include "tests/fuzz/fuzz.h"

namespace assay {

ASSAY_FUZZ_TARGET(told_bursts) {
  const auto answer = parse_json(bytes, "answer");
  if (!answer || !answer->is_object()) return;
  constexpr int64_t kBeyond = int64_t{1} << 53;  // Where sums of doubles begin to lose.
  for (const Json& asked : {Json::parse("[[0, 20]]"), Json::parse("[[0, 20], [-1, 3], [7, 1]]")}) {
    const auto told = sweep::read_bursts(*answer, asked);
    if (!told) continue;
    fuzz::expect(told->size() == asked.size(), "another number of bursts than was asked for");
    for (size_t i = 0; i < told->size(); ++i) {
      const sweep::ToldBurst& burst = (*told)[i];
      fuzz::expect(burst.launches >= 1 && burst.launches <= asked[i][1],
                   "more launches than were asked for, or none");
      fuzz::expect(burst.ns > 0 && burst.told.burst_ns == burst.ns, "a burst of no time");
      for (const int64_t ns :
           {burst.ns, burst.told.taken_ns, burst.told.others_ahead_ns, burst.others_since_ns})
        fuzz::expect(std::abs(ns) < kBeyond, "longer than any call");
    }
  }
}

}  // namespace assay
