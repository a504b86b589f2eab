#pragma once

// A run's figures for a person.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/load/result.h"
#include "assay/report/table.h"

namespace assay::cli {

// A row a latency, a column a statistic; those of too few requests are marked.
report::Table latency_table(const load::Metrics& metrics);
// What the mark means; empty where no figure has it.
std::string thin_note(const report::Table& table);

// A column that a narrow terminal does without, and what a reader calls it.
struct SpareColumn {
  std::size_t index = 0;
  std::string name;
};
// The table within style.width: the first spare columns are left out, as many as must, and a line
// says which. `elsewhere`: where they are.
std::string fitted_table(report::Table table, std::span<const SpareColumn> spare,
                         std::string_view elsewhere, const report::TextStyle& style);

// The latencies as text, what their mark means, and what is left out.
std::string latency_text(const load::Metrics& metrics, const report::TextStyle& style);
// "8 successful, 1 errored".
std::string ending_counts(const load::Metrics& metrics);

// The whole: requests, throughput, latencies, and what limits what they say.
std::string load_text(const load::LoadPlan& plan, const load::Judged& judged,
                      const report::TextStyle& style);

// Sentences about a run that is interrupted, not what was asked, or not the server's doing alone.
std::vector<std::string> load_warnings(const load::Judged& judged);

}  // namespace assay::cli
