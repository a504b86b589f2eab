#include "assay/lab/files/benchmark_file.h"

#include <algorithm>
#include <array>

#include "assay/base/choices.h"
#include "assay/base/text.h"
#include "assay/lab/files/forms.h"
#include "assay/lab/files/openai_http_fields.h"

namespace assay::lab {
namespace {

using input::YamlField;

constexpr std::array<const char*, 4> kReductions = {"median", "mean", "min", "max"};

Result<ShellJson> read_shell_json(const YamlField& root) {
  ShellJson shell;
  ASSAY_TRY(const YamlField command, root.at("command"));
  ASSAY_TRY(shell.command, command.as_strings());
  if (shell.command.empty() || shell.command[0].empty())
    return fail(command.error("expected the words of a command: [python3, benchmarks/run.py]"));
  ASSAY_TRY(const auto output, root.find("output"));
  if (!output) return shell;
  if (output->kind() == YamlField::Kind::map) {
    ASSAY_TRY(only(*output, output_file_form()));
    ASSAY_TRY(const YamlField file, output->at("file"));
    ASSAY_TRY(shell.output_file, as_inner_path(file));
    return shell;
  }
  ASSAY_TRY(const std::string word, output->as_string());
  if (word != "stdout") return fail(output->error("expected stdout, or {file: NAME}"));
  return shell;
}

Result<SweepRace> read_sweep(const YamlField& root) {
  SweepRace race;
  ASSAY_TRY(const YamlField manifest, root.at("manifest"));
  ASSAY_TRY(race.manifest, as_inner_path(manifest));
  if (!race.manifest.starts_with("workspace/"))
    return fail(manifest.error("the kernels of a case are in its workspace/"));
  ASSAY_TRY(const YamlField arguments, root.at("arguments"));
  ASSAY_TRY(const auto words, arguments.items());
  for (const YamlField& word : words) {
    ASSAY_TRY(race.arguments.emplace_back(), word.as_string());
  }
  return race;
}

bool is_reduction(std::string_view word) {
  const bool percentile = word.size() >= 2 && word.size() <= 3 && word[0] == 'p' &&
                          word.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return percentile || std::ranges::find(kReductions, word) != kReductions.end();
}

Result<MetricRule> read_rule(const YamlField& field) {
  ASSAY_TRY(only(field, metric_form()));
  MetricRule rule;
  ASSAY_TRY(rule.unit, text_or(field, "unit", ""));
  ASSAY_TRY(const auto direction, field.find("direction"));
  if (direction) {
    ASSAY_TRY(rule.direction, as_direction(*direction));
  }
  ASSAY_TRY(const auto floor, field.find("floor"));
  if (floor) {
    ASSAY_TRY(rule.floor, floor->as_double());
    if (!rule.direction)
      return fail(
          floor->error("a floor needs a direction beside it, to say which values lie beyond"));
  }
  ASSAY_TRY(rule.reduce, texts_or_none(field, "reduce"));
  for (const std::string& word : rule.reduce)
    if (!is_reduction(word))
      return fail(field.error(fmt::format(
          "reduce: '{}' is not among median, mean, min, max, p50 ... p99", sanitize(word, 60))));
  return rule;
}

Status read_common(const YamlField& root, Benchmark& benchmark) {
  ASSAY_TRY(benchmark.timeout_seconds, seconds_or(root, "timeout_s", 600));
  ASSAY_TRY(const auto environment, root.find("env"));
  if (environment) {
    ASSAY_TRY(benchmark.environment, as_environment(*environment));
  }
  ASSAY_TRY(benchmark.hazards, texts_or_none(root, "hazards"));
  for (const std::string& word : benchmark.hazards)
    if (std::ranges::find(benchmark_hazards(), word) == benchmark_hazards().end())
      return fail(root.error(fmt::format(
          "hazards: '{}' is not among replay, streamer, mutating_buffer", sanitize(word, 60))));
  ASSAY_TRY(const auto metrics, root.find("metrics"));
  if (!metrics) return {};
  ASSAY_TRY(const auto members, metrics->members());
  for (const auto& [name, field] : members) {
    ASSAY_TRY(benchmark.metrics[name], read_rule(field));
  }
  return {};
}

}  // namespace

std::string_view kind_of(const Benchmark& benchmark) {
  constexpr std::array<std::string_view, 3> kKinds = {"shell_json", "sweep", "openai_http"};
  return kKinds[benchmark.kind.index()];
}

Result<Benchmark> read_benchmark(const std::filesystem::path& case_folder,
                                 const std::string& file) {
  ASSAY_TRY(const YamlField root, input::read_yaml(case_folder / file));
  ASSAY_TRY(check_schema(root, "assay.benchmark/1"));
  Benchmark benchmark;
  benchmark.file = file;
  ASSAY_TRY(benchmark.name, text_at(root, "name"));
  if (!matches_name_rule(benchmark.name) || benchmark.name.find('.') != std::string::npos)
    return fail(
        root.error("name: letters, digits, _ and - alone: it is the prefix of its metrics"));
  ASSAY_TRY(const YamlField kind, root.at("kind"));
  ASSAY_TRY(const std::string word, kind.as_string());
  if (word == "shell_json") {
    ASSAY_TRY(only(root, shell_json_form()));
    ASSAY_TRY(benchmark.kind, read_shell_json(root));
    ASSAY_TRY(benchmark.require, texts_or_none(root, "require"));
  } else if (word == "sweep") {
    ASSAY_TRY(only(root, sweep_form()));
    ASSAY_TRY(benchmark.kind, read_sweep(root));
  } else if (word == "openai_http") {
    ASSAY_TRY(only(root, openai_http_form()));
    ASSAY_TRY(benchmark.kind, read_openai_http(root));
  } else {
    return fail(kind.error(
        fmt::format("'{}' is not among shell_json, sweep, openai_http", sanitize(word, 60))));
  }
  ASSAY_TRY(read_common(root, benchmark));
  return benchmark;
}

}  // namespace assay::lab
