#pragma once

// A case's attempts as they are drawn and shown.

#include <string>

#include "assay/report/attempt_page.h"
#include "cli/lab/lab_place.h"

namespace assay::cli {

// The attempts of the newest series; of one climb, where a run tag is given.
report::AttemptPlot plot_of(const LabPlace& place, const lab::HistoryContent& content,
                            const std::string& run_tag = {});

// What an attempt changed against its parent, by diff(1). Errors: not_found, where a tree is gone.
Result<std::string> patch_of(const Context& context, const lab::TreeStore& store,
                             const lab::HistoryContent& content, const lab::Attempt& attempt);

// The case's page, runs/report.html.
Result<std::string> report_page(const Context& context, const LabPlace& place,
                                const lab::HistoryContent& content);
std::string report_file(const LabPlace& place);
// Where the case has a page, it is written anew.
Status renew_report(const Context& context, const LabPlace& place);

}  // namespace assay::cli
