#pragma once

// A run of load, or a sweep of them, as one self-contained page.

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/load/load_record.h"
#include "assay/load/trace.h"

namespace assay::cli {

// What each run of `record` measured; the charts are of the first.
std::string load_page(const load::LoadRecord& record, std::span<const load::Trace> traces,
                      std::int64_t begin_ns, const std::string& record_name);

// over: "concurrency" or "rate"; runs: each load with what came of it.
std::string sweep_page(const load::LoadPlan& plan, const std::string& over,
                       std::span<const std::pair<double, load::Judged>> runs, double knee,
                       const std::string& record_name);

}  // namespace assay::cli
