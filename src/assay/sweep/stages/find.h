#pragma once

// Who can do a problem; why the others cannot.

#include "assay/base/result.h"
#include "assay/sweep/stages/station.h"

namespace assay::sweep {

// The field, each of it with the reason if it takes no part.
Result<Field> find_candidates(const Station& station);

}  // namespace assay::sweep
