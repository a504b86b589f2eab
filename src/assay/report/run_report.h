#pragma once

// A finished run for people who were not there: the same sections as markdown, and as one page of
// HTML that needs nothing beside it: no network, no script.

#include <span>
#include <string>
#include <string_view>

#include "assay/record/record.h"

namespace assay::report {

struct RunReportOptions {
  std::string record_path;  // Shown as it is given; empty: not shown.
  // Runs of the same problems under other conditions: where their sign is another one, it is said.
  std::span<const RunRecord> beside;
};

std::string run_markdown(const RunRecord& record, const RunReportOptions& options = {});

// Well-formed as XML too. Light and dark by the reader's preference.
std::string run_html(const RunRecord& record, const RunReportOptions& options = {});

// Whether a file's text is a report that one of these, or sweep_csv(), wrote: what may be replaced.
bool is_report(std::string_view text);

}  // namespace assay::report
