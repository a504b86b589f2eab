#pragma once

// The fields of an OwnClock. Private to record/.

#include "assay/base/archive.h"
#include "assay/record/own_clock.h"

namespace assay {

template <class A, archive::Is<ClockBlock> T>
void describe(A& a, T& block) {
  a.required("id", block.id);
  a.required("launches", block.launches, archive::kPositive);
  a.required("seconds", block.seconds, archive::kNotNegative);
  a("joules", block.joules, archive::kNotNegative);
  a("sm_mhz", block.sm_mhz, archive::kNotNegative);
  a("capped", block.capped, archive::Range{0, 1});
}

template <class A, archive::Is<OwnClock> T>
void describe(A& a, T& clock) {
  a.required("candidate", clock.candidate);
  a.required("other", clock.other);
  a.required("blocks", clock.blocks);
}

}  // namespace assay
