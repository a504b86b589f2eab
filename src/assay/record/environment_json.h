#pragma once

// An environment as records have it.

#include "assay/base/json.h"
#include "assay/record/environment.h"

namespace assay {

Json environment_json(const Environment& environment);

}  // namespace assay
