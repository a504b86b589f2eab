#pragma once

// A page of charts with a table of figures: what a run of load was.

#include <string>
#include <utility>
#include <vector>

#include "assay/report/chart.h"
#include "assay/report/document.h"

namespace assay::report {

struct ChartPage {
  std::string title, about;
  std::vector<std::pair<std::string, std::string>> tiles;  // A figure, and what it counts.
  std::vector<Section> sections;                           // Above the charts.
  std::vector<Chart> charts;
  std::string record;  // The file that has the numbers.
  std::string again;   // The command that makes them of its samples; empty: there are none.
};

std::string chart_page_html(const ChartPage& page);

}  // namespace assay::report
