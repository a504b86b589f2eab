#pragma once

// The fields of a GpuWindow. Private to record/.

#include "assay/base/archive.h"
#include "assay/record/gpu_window.h"

namespace assay {

template <class A, archive::Is<Spread> T>
void describe(A& a, T& spread) {
  a.required("low", spread.low, archive::kNotNegative);
  a.required("median", spread.median, archive::kNotNegative);
  a.required("high", spread.high, archive::kNotNegative);
}

template <class A, archive::Is<GpuStranger> T>
void describe(A& a, T& stranger) {
  a.required("pid", stranger.pid);
  a("memory_bytes", stranger.memory_bytes);
}

template <class A, archive::Is<GpuWindow> T>
void describe(A& a, T& window) {
  a("from", window.from);
  a("until", window.until);
  a("samples", window.samples, archive::kNotNegative);
  a("unwatched", window.unwatched);
  a("sm_mhz", window.sm_mhz);
  a("memory_mhz", window.memory_mhz);
  a("watts", window.watts);
  a("celsius", window.celsius);
  a("limit_watts", window.limit_watts, archive::kNotNegative);
  a("most_sm_mhz", window.most_sm_mhz, archive::kNotNegative);
  a("joules", window.joules, archive::kNotNegative);
  a("throttled", window.throttled, archive::Range{0, 1});
  a("strangers", window.strangers);
}

}  // namespace assay
