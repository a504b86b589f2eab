#pragma once

// JSON Schemas of the files of this folder, from the descriptions by which they are read.

#include "assay/base/json_fwd.h"

namespace assay {

Json record_schema();            // record.json
Json attempt_schema();           // attempt.json
Json provider_results_schema();  // <provider>_results.json

}  // namespace assay
