#pragma once

// What a race must show for its exit code to be 0: --require, --against-previous, --format.

#include <optional>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/compare/gate.h"
#include "assay/report/table.h"
#include "cli/command.h"
#include "cli/exit_code.h"

namespace assay::cli {

// --format of a gate's outcome, for a workflow: beside what people read, or in its place.
enum class GateFormat { text, github, junit };

class RaceGate {
 public:
  void declare(Flags& app);
  // What is wrong with the flags, or with the record of --against-previous: before anything runs.
  Status read(const Context& context);
  bool given() const { return !require_.empty() || !previous_path_.empty(); }

  struct Outcome {
    std::vector<Claim> claims;
    std::vector<std::string> missing, stale;
    // Of a race that ended with `code`: 3 where the earlier record lacks what it is asked for, else
    // 1 where a claim was not held, else as it was.
    int exit_code(int code) const;
  };
  Outcome hold(const RunRecord& record) const;
  // Of a race in which nothing could run: why not.
  Outcome of_nothing(std::vector<std::string> why) const;

  // What goes to stdout: `text` with the claims behind it, or JUnit's XML alone.
  std::string shown(const Outcome& outcome, std::string text, const report::TextStyle& style) const;
  static Json json(const Outcome& outcome);

 private:
  std::string require_, previous_path_, format_;
  std::optional<Requirement> requirement_;
  std::optional<RunRecord> previous_;
};

}  // namespace assay::cli
