#pragma once

// A race is about some kernels: without any of them nothing is proven or timed.

#include <string>

#include "assay/sweep/sweep.h"
#include "assay/timing/candidate.h"

namespace assay::sweep {

// Why there is nothing to race for, by how the kernels ended that the race is about; empty if there
// is something.
std::string why_no_race(const Request& request, const Field& field);

}  // namespace assay::sweep
