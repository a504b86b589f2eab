#pragma once

// When a climb ends.

#include <string>

#include "assay/lab/climb/climb.h"

namespace assay::lab {

// What of a climb its history does not say.
struct ClimbState {
  std::string series;
  double seconds = 0;  // Of this call, so far.
  int failures = 0;    // Of the agent, in a row.
  int spoiled = 0;     // Attempts in a row of which others left no pair.
  int without_keep = 0;
  bool cost_unknown = false;  // An agent did its turn, and did not say what that cost.
};

// Turns that climbs made under the run tag: attempts, the baseline aside, and turns that made none.
int turns_of(const HistoryContent& content, const std::string& run_tag);

// Too often in a row: the agent failed, or others were at work while attempts were measured.
bool has_failed(const ClimbState& state);
bool is_spoiled(const ClimbState& state);

// A sentence; empty while it goes on.
std::string reason_to_end(const Case& target, const ClimbOptions& options,
                          const HistoryContent& content, const ClimbState& state);

}  // namespace assay::lab
