#pragma once

// One benchmark, once, in one tree.

#include <filesystem>
#include <optional>
#include <string>

#include "assay/lab/evaluate/metrics.h"
#include "assay/lab/evaluate/program_runner.h"

namespace assay::lab {

// A tree that is built, and what its programs get.
struct Side {
  std::filesystem::path folder;
  Environment environment;
};

// Why an attempt ends before it is decided.
struct Failure {
  AttemptOutcome outcome = AttemptOutcome::crash;
  std::string reason;
};

struct Measured {
  std::optional<Failure> failure;
  Metrics metrics;
};

Result<Measured> run_shell_json(const ProgramRunner& runner, const Benchmark& benchmark,
                                const Side& side, const std::string& label);

}  // namespace assay::lab
