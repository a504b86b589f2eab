#pragma once

// Traces on the disk: lines of JSON, compressed.

#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/load/trace.h"

namespace assay::load {

Status write_samples(const std::string& path, std::span<const Trace> traces, std::int64_t begin_ns);
// Times count from an origin of their own, which is the same for all.
Result<std::vector<Trace>> read_samples(const std::string& path);

}  // namespace assay::load
