#pragma once

// The fields of a GpuProfile. Private to record/.

#include "assay/base/archive.h"
#include "assay/record/gpu_profile.h"

namespace assay {

template <class A, archive::Is<ProfiledKernel> T>
void describe(A& a, T& kernel) {
  a.required("name", kernel.name);
  a("metrics", kernel.metrics, archive::kNotNegative);
}

template <class A, archive::Is<GpuProfile> T>
void describe(A& a, T& profile) {
  a("tool", profile.tool);
  a("command_line", profile.command_line);
  a("output", profile.output);
  a("unavailable", profile.unavailable);
  a("note", profile.note);
  a("launches", profile.launches, archive::kNotNegative);
  a("kernels", profile.kernels);
}

}  // namespace assay
