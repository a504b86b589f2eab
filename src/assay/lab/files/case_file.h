#pragma once

// One research target: a model, a hardware target, one objective, one fixed set of benchmarks, and
// the workspace that may change.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/lab/files/benchmark_file.h"
#include "assay/lab/files/lab_file.h"
#include "assay/lab/files/read_yaml_fields.h"
#include "assay/lab/files/shape_ranges.h"

namespace assay::lab {

struct Objective {
  std::string metric;
  Direction direction = Direction::minimize;
  std::string unit;
  double min_effect = 0.005;  // The least gain that is worth a change, as a fraction.
};

struct Guardrail {
  std::string metric;
  Direction direction = Direction::minimize;
  double tolerance = 0.01;  // The loss that is allowed, as a fraction.
};

struct Lane {
  std::vector<std::string> benchmarks, kept_guardrails;
  Environment environment;
};

using Command = std::vector<std::string>;  // Words, without a shell.

struct Parity {
  Command command;  // Empty: the case's server is asked.
  std::string prompts, reference;
  std::vector<std::string> before;  // Benchmarks that it must pass ahead of.
};

// What whoever changes the workspace does not see: shapes that are drawn anew for each keep, or a
// command.
struct Holdout {
  std::optional<ShapeRanges> ranges;
  int draws = 4;
  double tolerance = 0.02;
  Command command;
};

struct Agent {
  Command command;
  double timeout_seconds = 3600;
  std::vector<std::string> passed_variables;
};

// What `assay serve --case` starts, and `openai_http` benchmarks afresh for each run. Paths are
// relative to the case's folder.
struct CaseServer {
  std::string backend;  // mock, process or plugin.
  std::string plugin;   // A shared object.
  Command command;      // Of a process; "{port}" in a word is where it shall listen.
  double ready_seconds = 600;
};

inline constexpr std::uint64_t kStandardDiskBytes = std::uint64_t{10} << 30;

struct Case {
  std::filesystem::path folder;  // Absolute.
  std::string name;              // "model/case".
  std::string model_name, model_path;
  std::string hardware_name, hardware_device;
  bool hardware_required = false;
  std::vector<Benchmark> benchmarks;
  Objective objective;
  std::vector<Guardrail> guardrails;
  std::map<std::string, Lane> lanes;
  std::vector<std::string> fixed;  // Patterns of what gates or scores.
  Command setup, build, tests;
  std::optional<Parity> parity;
  std::optional<Holdout> holdout;
  std::optional<CaseServer> server;
  std::vector<int> looks = {8, 16, 32};
  double confirm_seconds = 1800;
  std::uint64_t disk_bytes = kStandardDiskBytes;  // That an agent or a command may add.
  std::vector<std::string> allowed_variables;
  std::optional<Agent> agent;
  NotifyRules notify;  // The lab's, where case.yaml says nothing else.

  const Benchmark* find_benchmark(std::string_view name) const;
};

// The case that a folder is in: the nearest upward with case.yaml, within the lab.
Result<Case> find_case(const Lab& lab, const std::filesystem::path& from);
Result<Case> read_case(const Lab& lab, const std::filesystem::path& folder);

}  // namespace assay::lab
