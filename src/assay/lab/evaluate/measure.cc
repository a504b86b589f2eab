#include "assay/lab/evaluate/measure.h"

#include <nlohmann/json.hpp>

#include "assay/base/file.h"
#include "assay/base/json.h"

namespace assay::lab {
namespace {

constexpr size_t kMostFile = size_t{16} << 20;

Result<Json> read_output(const ShellJson& shell, const Side& side, const std::string& out) {
  if (shell.output_file.empty()) return last_json_object(out);
  const std::string path = (side.folder / shell.output_file).string();
  const auto text = read_file(path, kMostFile);
  if (!text) return fail(ErrorCode::failed, "{}: {}", shell.output_file, text.error().message);
  auto json = parse_json(*text, shell.output_file);
  if (json && !json->is_object())
    return fail(ErrorCode::failed, "{} holds no JSON object", shell.output_file);
  return json;
}

}  // namespace

Result<Measured> run_shell_json(const ProgramRunner& runner, const Benchmark& benchmark,
                                const Side& side, const std::string& label) {
  const auto& shell = std::get<ShellJson>(benchmark.kind);
  Environment environment = side.environment;
  environment.insert(benchmark.environment.begin(), benchmark.environment.end());
  environment["ASSAY_WORKSPACE"] = (side.folder / "workspace").string();
  // What an earlier run left is no result of this one.
  std::error_code ignored;
  if (!shell.output_file.empty()) std::filesystem::remove(side.folder / shell.output_file, ignored);
  ASSAY_TRY(const ProgramRun run,
            runner.run(label, shell.command, side.folder, environment, benchmark.timeout_seconds));
  if (run.failure) return Measured{Failure{*run.failure, benchmark.name + ": " + run.reason}, {}};
  const auto object = read_output(shell, side, run.out);
  if (!object)
    return Measured{Failure{AttemptOutcome::crash, benchmark.name + ": " + object.error().message},
                    {}};
  auto metrics = flatten(*object, benchmark);
  if (!metrics)
    return Measured{
        Failure{metrics.error().code == ErrorCode::unsupported ? AttemptOutcome::violation
                                                               : AttemptOutcome::crash,
                metrics.error().message},
        {}};
  return Measured{std::nullopt, std::move(*metrics)};
}

}  // namespace assay::lab
