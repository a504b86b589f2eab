#pragma once

// Where a case stands: what was tried, and what of it can be compared with the workspace as it is.

#include "assay/lab/files/series.h"
#include "cli/lab/lab_place.h"

namespace assay::cli {

struct Standing {
  lab::HistoryContent content;
  lab::Tree tree;      // Of the whole case.
  lab::Series series;  // Of an attempt that would be made now.
  std::string run_tag;
};

Result<Standing> standing_of(const Context& context, const LabPlace& place);

}  // namespace assay::cli
