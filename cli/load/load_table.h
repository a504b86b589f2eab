#pragma once

// A run's figures for a person.

#include <span>
#include <string>

#include "assay/load/result.h"
#include "assay/report/table.h"

namespace assay::cli {

// A row a latency, a column a statistic; those of too few requests are marked.
report::Table latency_table(const load::Metrics& metrics);
// What the mark means; empty where no figure has it.
std::string thin_note(const report::Table& table);

// The whole: requests, throughput, latencies, and what limits what they say.
std::string load_text(const load::LoadPlan& plan, const load::Judged& judged,
                      const report::TextStyle& style);

// Sentences about a run that is not what was asked, or not the server's doing alone.
std::vector<std::string> load_warnings(const load::Judged& judged);

}  // namespace assay::cli
