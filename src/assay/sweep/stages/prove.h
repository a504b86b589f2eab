#pragma once

// Whether kernels are right.

#include <functional>

#include "assay/base/result.h"
#include "assay/process/messages.h"
#include "assay/sweep/stages/station.h"

namespace assay::sweep {

class Instances;

// Right or not, and how that was checked. A crash ends that candidate alone. build: what makes the
// field ready to be proven, beside which workers begin and inputs are made.
Status prove(const Station& station, Field& field, const std::function<Status()>& build);

// Judges what a worker answered. The numbers of instances are those of `instances`.
Status judge_proof(Candidate& candidate, const Instances& instances, const process::Prove& asked,
                   process::Prove::Answer answer, Child& worker);

}  // namespace assay::sweep
