#pragma once

// Rows of many kernels as one JSON value: what rows share is written once, so that 100,000 of them
// fit into a message and share their memory again where they are read.

#include <functional>
#include <span>

#include "assay/base/json_fwd.h"
#include "assay/base/result.h"
#include "assay/kernel/metadata.h"

namespace assay {

// [{"shared": {provider, family, name (the pattern), rule ...}, "columns": [attribute ...],
//   "designs": [[value ...] ...], "rows": [number of a design ...]} ...]: blocks of rows of one
// family, in the order given. In the place of its columns a block may say "like": the number of an
// earlier block whose columns are its own; its designs are numbered on from those of all such
// blocks before it.
Json table_json(std::span<const KernelMetadata> rows);

// The rows in their order, each with its block, which may hold more members. Rows of a block share
// traits and axes. Hostile input is an error that names the field. Stops at an error of `take`.
Status read_table(const Json& table,
                  const std::function<Status(const Json& block, KernelMetadata row)>& take);

}  // namespace assay
