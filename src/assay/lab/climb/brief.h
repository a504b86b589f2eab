#pragma once

// What an agent is told before its turn: where the climb stands, what was tried, and what is left.

#include <optional>
#include <string>

#include "assay/lab/files/case_file.h"
#include "assay/lab/files/history.h"

namespace assay::lab {

struct BriefFacts {
  std::string series, run_tag;
  std::string plan;              // plan.yaml as it is; may be empty.
  double smallest_keepable = 0;  // As a fraction; 0: not known.
  std::optional<int> turns_left;
  std::optional<double> seconds_left;
};

// Markdown.
std::string brief_text(const Case& target, const HistoryContent& content, const BriefFacts& facts);

// Sentences that ask for another kind of change, from what the last attempts came to.
std::vector<std::string> advice(const HistoryContent& content, std::string_view series);

}  // namespace assay::lab
