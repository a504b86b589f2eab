#pragma once

// A climb: agents change copies of the workspace, each change is evaluated, and the next turn
// begins at what was kept. The case's own workspace is read for the baseline and never written.

#include <functional>
#include <optional>
#include <string>

#include "assay/lab/evaluate/evaluate.h"

namespace assay::lab {

struct ClimbOptions {
  EvaluateOptions evaluate;  // Without what an attempt says of itself.
  Command agent;
  int agents = 1;        // That think side by side; one change is measured at a time.
  bool branch = true;    // Kept states become commits, where the case is in a repository.
  bool confine = false;  // Each sees the machine read-only but for its own copy of the case.
  double agent_seconds = 3600;
  std::vector<std::string> agent_environment;  // "NAME=value": for the agent alone.
  std::optional<Attempt> from;  // The first turns begin at its tree, until something is kept.

  // When it ends. Turns, dollars and tokens are those of the run tag, earlier calls included.
  std::optional<int> turns;
  std::optional<double> seconds;
  std::optional<double> usd;
  std::optional<std::int64_t> tokens;
  std::optional<int> patience;  // So many turns in a row that kept nothing.
  std::optional<double> until;  // The objective has reached this value.
};

struct ClimbObserver {
  EvaluateObserver evaluate;
  std::function<void(const Evaluated&)> on_attempt = [](const Evaluated&) {};
  std::function<void(const std::string& sentence)> on_skip = [](const std::string&) {};
};

struct Climbed {
  int turns = 0, kept = 0;          // Of this call.
  int failed = 0;                   // Turns in which the agent failed.
  bool gave_up = false;             // It failed too often in a row, or in every turn.
  bool spoiled = false;             // Others were at work while too many attempts were measured.
  std::string end;                  // Why it ended: a sentence.
  std::string branch;               // That holds what was kept; empty: there is none.
  std::optional<HeldOut> held_out;  // The best state on what is held out; none: nothing is.
};

Result<Climbed> climb(const Lab& lab, const Case& target, const ClimbOptions& options,
                      const ClimbObserver& observer);

}  // namespace assay::lab
