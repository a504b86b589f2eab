#pragma once

// What an assembler of device code says of a function, as an artifact's facts.

#include <string>

#include "assay/base/json.h"

namespace assay::device_code {

// From ptxas's own lines ("Used 32 registers, ... 8 bytes spill stores"): registers,
// spill_store_bytes, spill_load_bytes, static_shared_bytes, as far as the log has them.
void add_resources(const std::string& log, Json& facts);

}  // namespace assay::device_code
