#pragma once

// The points of a user's kernel with tunables: how far each is from the best of them. Times are of
// the race where a point was not confirmed: they chose where to spend, and are no claim.

#include <string>
#include <string_view>
#include <vector>

#include "assay/record/record.h"
#include "assay/report/table.h"

namespace assay::report {

struct TunedPoint {
  const KernelOutcome* kernel = nullptr;
  std::vector<std::string> values;  // Of each tunable.
  double us = 0;                    // 0: it has no time.
  double share = 0;                 // Of the best point's speed.
};

// What differs between kernels of one family of a user's.
struct TunedFamily {
  std::string name;
  std::vector<std::string> tunables;
  std::vector<TunedPoint> points;  // The fastest first, then those without a time.
};
std::vector<TunedFamily> tuned_families(const ProblemRecord& problem);

// A line for each point: its values, us, share of the best.
Table points_table(const TunedFamily& family);

// Two tunables as rows and columns, the shares of the best as cells.
struct HeatMap {
  std::vector<std::string> rows, columns;   // Values, in order.
  std::vector<std::vector<double>> shares;  // By row and column; 0: no time there.
};
bool has_heat_map(const TunedFamily& family);
HeatMap heat_map(const TunedFamily& family);

// The table, and the map where there are two tunables; empty where nothing is tunable.
std::string tunables_text(const ProblemRecord& problem, const TextStyle& style);
// The maps of a run, a section of a page; empty where there are none.
std::string tunables_html(const RunRecord& record);

}  // namespace assay::report
