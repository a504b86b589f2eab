#pragma once

// What an agent is told before its turn: where the climb stands, what was tried, and what is left.

#include <optional>
#include <string>
#include <vector>

#include "assay/lab/files/case_file.h"
#include "assay/lab/files/history.h"

namespace assay::lab {

struct BriefFacts {
  std::string series, run_tag;
  std::string plan;              // plan.yaml as it is; may be empty.
  double smallest_keepable = 0;  // As a fraction; 0: not known.
  // Of kept attempts, the newest first: at most two.
  struct Profiled {
    std::int64_t seq = 0;
    AttemptProfile profile;
  };
  std::vector<Profiled> profiles;
  std::optional<int> turns_left;
  std::optional<double> seconds_left, usd_left;
  std::optional<std::int64_t> tokens_left;
  std::int64_t start_seq = 0;  // Of the attempt whose tree the turn begins at; 0: the best state.
  bool of_turn = false;  // A climb's: the workspace is the best state's, and the end is measured.
};

// What the case's own files say of it: its plan, and the noise of its best state.
BriefFacts brief_facts(const Case& target, const HistoryContent& content, std::string series,
                       std::string run_tag);

// Markdown.
std::string brief_text(const Case& target, const HistoryContent& content, const BriefFacts& facts);

// Sentences that ask for another kind of change, from what the last attempts came to: near ties of
// one family, variables that move less than can be proven, a profile whose top three stay, and
// older wins that were not tested again since.
std::vector<std::string> advice(const HistoryContent& content, const BriefFacts& facts);

}  // namespace assay::lab
