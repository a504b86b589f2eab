#pragma once

// The drawing of a page's first question: how much faster, and how sure is that? One bar per shape
// with its interval. Private to report/.

#include <string>

#include "assay/record/record.h"

namespace assay::report {

// HTML; empty where no shape has a headline with an interval.
std::string speed_up_bars(const RunRecord& record);

}  // namespace assay::report
