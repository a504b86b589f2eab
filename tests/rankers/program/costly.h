#pragma once

#include <memory>
#include <vector>

#include "assay/kernel/provider.h"
#include "assay/kernel/ranker.h"

namespace assay::costly {

// Twelve kernels costly_0 to costly_11, which all do the same; costly_5 does it once, the others
// many times over. Each says that its compile costs 45 seconds, and leaves its name in the cache.
// Beside them costly_default, which costs as much, and costly_free, which costs nothing.
std::unique_ptr<Provider> make_provider();

// by_number: by the design's number, the odd ones only: 1, 3, 5 ... best; worst_first: 11, 10, 9
// ...; roofline: cannot score; missing: its library is not there; crashing: brings its process
// down.
std::vector<std::unique_ptr<Ranker>> make_rankers();

}  // namespace assay::costly
