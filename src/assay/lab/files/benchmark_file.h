#pragma once

// One of a case's fixed benchmarks, as a file under benchmarks/ says it.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "assay/lab/files/environment_rules.h"
#include "assay/lab/files/read_yaml_fields.h"

namespace assay::lab {

// A program that prints one JSON object of metrics.
struct ShellJson {
  std::vector<std::string> command;  // Its folder is the case's.
  std::string output_file;           // Where the object is; empty: the last one on stdout.
};

// `assay race` over the workspace's kernels.
struct SweepRace {
  std::string manifest;
  std::vector<std::string> arguments;
};

// An OpenAI-compatible server under load.
struct OpenAiHttp {
  std::string base_url;                // Empty: the case's own server, afresh for each run.
  std::string key_env;                 // The variable that has the key for it; empty: none.
  std::vector<std::string> arguments;  // Words of `assay load`.
  std::int64_t seed = 0;               // Of the first pair; each has its own.
  // What must hold, or the run is none.
  std::optional<std::int64_t> most_errored;
  bool unlimited_client = false, exact_tokens = false;
};

struct MetricRule {
  std::string unit;
  std::optional<Direction> direction;
  std::optional<double> floor;      // No value can be better than this one.
  std::vector<std::string> reduce;  // Of a list: "median", "mean", "min", "max", "p99".
};

struct Benchmark {
  std::string name;  // The prefix of its metrics.
  std::string file;  // In the case's folder.
  std::variant<ShellJson, SweepRace, OpenAiHttp> kind;
  double timeout_seconds = 600;
  Environment environment;
  std::vector<std::string> hazards, require;
  std::map<std::string, MetricRule> metrics;
};

std::string_view kind_of(const Benchmark& benchmark);

Result<Benchmark> read_benchmark(const std::filesystem::path& case_folder, const std::string& file);

}  // namespace assay::lab
