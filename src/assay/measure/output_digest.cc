#include "assay/measure/output_digest.h"

#include <sys/random.h>

#include "assay/base/clock.h"

namespace assay::measure {

uint64_t draw_unknown() {
  uint64_t drawn = 0;
  if (::getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) == sizeof drawn) return drawn;
  // A machine that has just started: nobody foresees the nanosecond either.
  return static_cast<uint64_t>(monotonic_ns()) * 0x9e3779b97f4a7c15;
}

}  // namespace assay::measure
