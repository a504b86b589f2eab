#pragma once

// What a process that runs candidates says of a round's bursts, read as what it is: anybody's.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "assay/base/json_fwd.h"
#include "assay/sweep/processor_time.h"

namespace assay::sweep {

struct ToldBurst {
  int64_t ns = 0;
  int64_t waited_ns = 0;  // measure::Burst::waited_ns
  bool clean = false;
  int launches = 0;
  ProcessorTime::Told told;
  int64_t others_since_ns = 0;

  // What is left of it without the longest wait for a core.
  int64_t in_cores_ns() const { return std::clamp<int64_t>(ns - waited_ns, 0, ns); }
};

// Of the answer to a round (protocol.h). asked: [[handle, launches]...]; a burst may have fewer
// launches than were asked for, never more. None where the answer says what no burst can have.
std::optional<std::vector<ToldBurst>> read_bursts(const Json& answer, const Json& asked);

}  // namespace assay::sweep
