#pragma once

// JSON Schemas of the files that users write for kernels and problems.

#include "assay/base/json_fwd.h"

namespace assay::input {

Json suite_schema();      // shapes/*.yaml
Json model_schema();      // config.json of a model
Json manifest_schema();   // kernel_manifest.yaml, and the comment at a source's head
Json operation_schema();  // *.op.yaml

}  // namespace assay::input
