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
  // A race takes seconds and differs from itself by tenths of one, so the row is where the program
  // answers at once; whole races, whose result is larger, are held against the bound too.
  const Json& race = found["race"];
  const Json& refused = found["refused"];
  const double at_once = refused["overhead_ms"], whole = race["overhead_ms"];
  Row row{
      .target = "Python `race` overhead beyond the program's own",
      .bound = "<= 100 ms",
      .measured = fmt::format("{:.1f} ms [{:.1f}, {:.1f}]", at_once,
                              refused["low_ms"].get<double>(), refused["high_ms"].get<double>()),
      .ok = at_once <= kMostMs && whole <= kMostMs};
  row.notes.push_back(
      fmt::format("python: median of {} pairs in turn of a race that is refused (the program "
                  "alone: {:.0f} ms); "
                  "of whole races ({:.0f} ms) {:.0f} ms [{:.0f}, {:.0f}].",
                  race["pairs"].get<int>(), refused["program_ms"].get<double>(),
                  race["program_ms"].get<double>(), whole, race["low_ms"].get<double>(),
                  race["high_ms"].get<double>()));
  row.details = found;
  return std::vector<Row>{row};
}

}  // namespace assay::bench
