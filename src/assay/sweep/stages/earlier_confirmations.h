#pragma once

// How often a kernel was confirmed on a problem before, on this machine: who races until a race
// says `faster` gets one that does by chance (record/conclude.h widens intervals for it).

#include <string>

#include "assay/base/result.h"
#include "assay/record/confirm.h"
#include "assay/sweep/stages/station.h"
#include "assay/timing/candidate.h"

namespace assay::sweep {

// What such confirmations have in common: kernel, artifact, problem, condition, class and device.
std::string confirmation_key(const Station& station, const Candidate& candidate);

// Adds a line to the file, which is on the disk before this returns, so before the confirmation's
// first sample: one that is broken off counts. The lines with this key that were there before.
// Lines that nobody of ours wrote count as none.
Result<int> count_confirmation(const std::string& path, const std::string& key);

}  // namespace assay::sweep
