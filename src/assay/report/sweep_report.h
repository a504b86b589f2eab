#pragma once

// The final table of a sweep, and the verdict of a race.

#include <map>
#include <string>
#include <vector>

#include "assay/record/record.h"
#include "assay/report/table.h"

namespace assay::report {

struct SweepReportOptions {
  TextStyle style;
  std::vector<std::string> only;  // Names of the problems to show; empty: all.
  std::string record_path;        // Shown as it is given; empty: no such line.
  std::string next;               // A command worth trying next; may be empty.
  bool why = false;               // Refusals by reason, failed kernels, why a verdict is unsure.
};

// The table that a sweep shows, with its footnotes: ties, what the marks mean,
// the model's weighted time, counts.
std::string sweep_text(const RunRecord& record, const SweepReportOptions& options = {});
// One row per problem, numbers in full, units in the headers.
std::string sweep_csv(const RunRecord& record);

// What the user asked for: his kernel against one that he named.
struct RaceAgainst {
  std::string other;  // As it is shown.
  stats::Verdict verdict;
};

struct RaceReportOptions {
  TextStyle style;
  std::string record_path;
  bool named = false;  // Each problem by its name, also where it is the only one.
  // By the problem's name. It is the verdict where there is none against the pool.
  std::map<std::string, RaceAgainst> against;
};

// The closing lines of `assay race`: proving, racing, verdict, record. The first problem of the
// record is the one that was raced; several follow one another with their names.
std::string race_text(const RunRecord& record, const RaceReportOptions& options = {});

}  // namespace assay::report
