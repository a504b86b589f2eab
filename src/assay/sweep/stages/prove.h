#pragma once

// Whether kernels are right.

#include <cstddef>
#include <functional>

#include "assay/base/result.h"
#include "assay/sweep/stages/station.h"

namespace assay::sweep {

class Bursts;
class Instances;

// Right or not, and how that was checked. A crash ends that candidate alone. build: what makes the
// field ready to be proven, beside which workers begin and inputs are made.
Status prove(const Station& station, Field& field, const std::function<Status()>& build);

// Proves an open candidate again, on instance 0, in the process where it is timed: a wrong one
// ends.
Status prove_where_timed(const Station& station, Field& field, Bursts& bursts,
                         const Instances& instances, size_t index);

}  // namespace assay::sweep
