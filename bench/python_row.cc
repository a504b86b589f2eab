// What the Python package's race() costs beyond the program that it starts.

#include <cstdlib>

#include <fmt/format.h>

#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "bench/row.h"

#ifndef ASSAY_PYTHON
#define ASSAY_PYTHON ""
#endif

namespace assay::bench {
namespace {

constexpr double kMostMs = 100;

Result<Json> run_script(const Context& context) {
  std::error_code ignored;
  const auto beside =
      std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "python";
  const auto script = beside / "overhead.py";
  if (!std::filesystem::exists(script))
    return fail(ErrorCode::not_found,
                "no {}: build the target assay_python (it takes python3-dev and pybind11-dev)",
                script.string());
  SubprocessOptions options;
  options.argv = {ASSAY_PYTHON, script.string(), (context.folder / "python").string(),
                  std::to_string(context.count(15, 3))};
  options.env = {"PYTHONPATH=" + beside.string()};
  for (const char* name : {"PATH", "HOME", "LD_LIBRARY_PATH"})
    if (const char* value = std::getenv(name))
      options.env.push_back(fmt::format("{}={}", name, value));
  ASSAY_TRY(const CommandOutput output, run_command(options, {}));
  if (!output.status.success())
    return fail(ErrorCode::failed, "{} {}: {}", script.string(), output.status.describe(),
                sanitize(output.err, 400));
  return parse_json(output.out, script.string());
}

}  // namespace

Result<std::vector<Row>> measure_python(const Context& context) {
  ASSAY_TRY(const Json found, run_script(context));
  const Json& race = found["race"];
  const Json& refused = found["refused"];
  const double overhead = race["overhead_ms"], high = race["high_ms"];
  Row row{.target = "Python `race` overhead beyond the program's own",
          .bound = "<= 100 ms",
          .measured = fmt::format("{:.0f} ms [{:.0f}, {:.0f}]", overhead,
                                  race["low_ms"].get<double>(), high),
          .ok = overhead <= kMostMs};
  row.notes.push_back(fmt::format(
      "python: median of {} pairs of the same race in turn (the program alone: {:.0f} ms); where "
      "the program refuses at once ({:.0f} ms), {:.1f} ms [{:.1f}, {:.1f}].",
      race["pairs"].get<int>(), race["program_ms"].get<double>(),
      refused["program_ms"].get<double>(), refused["overhead_ms"].get<double>(),
      refused["low_ms"].get<double>(), refused["high_ms"].get<double>()));
  row.details = found;
  return std::vector<Row>{row};
}

}  // namespace assay::bench
