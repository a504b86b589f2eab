#pragma once

// Compiled forms.

#include "assay/base/result.h"
#include "assay/sweep/stages/station.h"

namespace assay::sweep {

// From the cache or a compiler. A failure ends that candidate alone.
Status build(const Station& station, Field& field);

}  // namespace assay::sweep
