#pragma once

// A climb: an agent changes a copy of the workspace, each change is evaluated, and the next turn
// begins at what was kept. The case's own workspace is read for the baseline and never written.

#include <functional>
#include <optional>
#include <string>

#include "assay/lab/evaluate/evaluate.h"

namespace assay::lab {

struct ClimbOptions {
  EvaluateOptions evaluate;  // Without what an attempt says of itself.
  Command agent;
  double agent_seconds = 3600;
  std::vector<std::string> agent_environment;  // "NAME=value": for the agent alone.
  std::optional<int> turns;                    // Of the run tag in all, earlier ones included.
  std::optional<double> seconds;
  std::optional<int> patience;  // End after so many turns in a row that kept nothing.
  std::optional<double> until;  // End when the objective has reached this value.
};

struct ClimbObserver {
  EvaluateObserver evaluate;
  std::function<void(const Evaluated&)> on_attempt = [](const Evaluated&) {};
  std::function<void(const std::string& sentence)> on_skip = [](const std::string&) {};
};

struct Climbed {
  int turns = 0, kept = 0;  // Of this call.
  std::string end;          // Why it ended: a sentence.
};

Result<Climbed> climb(const Lab& lab, const Case& target, const ClimbOptions& options,
                      const ClimbObserver& observer);

// What an agent wrote of its change: {description, hypothesis, family, target, lane, env, cost}.
struct AttemptNote {
  std::string description, hypothesis, family, target, lane;
  Environment environment;
};
Result<AttemptNote> read_attempt_note(const std::filesystem::path& path, const Case& target);

}  // namespace assay::lab
