#pragma once

// Code for a card, compiled in as many processes as there are cores for: NVRTC compiles one kernel
// at a time in each process, whatever its threads.

#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/op/operation.h"
#include "assay/sweep/crew.h"

namespace assay::sweep {

// Kernels, as KernelMetadata::to_json() has them, into the cache. Nothing is said of what fails:
// who compiles it next is told. Returns what each took, in seconds, 0 where it did not get so far.
Result<std::vector<double>> compile_ahead(Crew& crew, const Problem& problem,
                                          const std::string& target,
                                          const std::vector<Json>& kernels);

}  // namespace assay::sweep
