#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"
#include "assay/input/file_and_entry.h"
#include "assay/input/manifest.h"
#include "assay/report/words.h"
#include "cli/exit_code.h"
#include "cli/files/kernel_files.h"
#include "cli/flags/quantities.h"
#include "cli/flags/race_options.h"
#include "cli/show/race_text.h"

namespace assay::cli {
namespace {

// A line for each check, as it begins: one that hangs takes its time.
class CheckProgress : public sweep::Observer {
 public:
  explicit CheckProgress(Console& console) : console_(console) {}
  void on_stage(const std::string&, size_t done, size_t total, const std::string& what) override {
    console_.progress(fmt::format("check {}/{}  {}", done, total, what));
  }
  void on_note(const std::string& sentence) override { console_.note(sentence); }

 private:
  Console& console_;
};

class PluginCommand : public Command {
 public:
  const char* name() const override { return "plugin"; }
  const char* summary() const override {
    return "check FILE.so: does a plug-in do what every provider must?";
  }
  const char* example() const override { return "assay plugin check my_kernels.so"; }

  void declare(Flags& app) override {
    app.add_option("action", action_, "check: load it in a worker, and run the conformance suite")
        .required()
        .one_of({"check"})
        .type_name("check");
    app.add_option("file", file_, "The plug-in: FILE.so or FILE.so::KERNEL")
        .required()
        .type_name("FILE");
    options_.declare_machine(app);
    app.add_option("--timeout", timeout_,
                   "How long the check of one problem may take before it counts as hung")
        .type_name("TIME")
        .show_default();
  }

  Result<int> run(Context& context) override {
    ASSAY_TRY(sweep::Request request, options_.make_request(context, "plugin"));
    if (const std::string path = input::split_entry(file_).file; !input::is_plugin(path))
      return fail(ErrorCode::invalid_input, "plugin check: '{}' is no shared object by its name",
                  sanitize(path, 200));
    ASSAY_TRY(request.pool.kernels, read_sources({&file_, 1}));
    ASSAY_TRY(request.limits.trial_seconds, parse_seconds(timeout_, "--timeout"));
    sweep::ConformanceReport report;
    {
      CheckProgress progress(context.console);
      ASSAY_TRY(report, sweep::check_conformance(request, progress));
    }
    const int code = report.conforms() ? kDone : kRefuted;
    context.console.result(context.console.json() ? dump_pretty(json(report, code))
                                                  : text(context.console, report));
    return code;
  }

 private:
  static const char* outcome(const sweep::ConformanceReport::Check& check) {
    return !check.faults.empty() ? "failed" : check.looked_at == 0 ? "skipped" : "passed";
  }

  // "16 kernels", "1 family".
  static std::string counted(const sweep::ConformanceReport::Check& check) {
    std::string unit = check.unit;
    if (check.looked_at == 1 && unit.ends_with("ies"))
      unit.replace(unit.size() - 3, 3, "y");
    else if (check.looked_at == 1 && unit.ends_with('s'))
      unit.pop_back();
    return fmt::format("{} {}", report::thousands(check.looked_at), unit);
  }

  Json json(const sweep::ConformanceReport& report, int code) const {
    Json checks = Json::array();
    for (const auto& check : report.checks)
      checks.push_back({{"name", check.name},
                        {"what", check.what},
                        {"result", outcome(check)},
                        {"looked_at", check.looked_at},
                        {"unit", check.unit},
                        {"faults", check.faults}});
    return {{"schema", "assay.plugin_check/1"},
            {"file", file_},
            {"kernels", report.kernels},
            {"kernels_run", report.ran},
            {"checks", std::move(checks)},
            {"conforms", report.conforms()},
            {"exit_code", code}};
  }

  std::string text(const Console& console, const sweep::ConformanceReport& report) const {
    const report::TextStyle style{console.width_out(), console.colour_out()};
    std::string out;
    int failed = 0;
    for (const auto& check : report.checks) {
      out += line_text({outcome(check), fmt::format("{}   {}", check.what, counted(check))}, style);
      failed += check.faults.empty() ? 0 : 1;
      for (const std::string& fault : check.faults) out += line_text({"", fault}, style);
    }
    const std::string run =
        fmt::format("{} of {} kernel{} {} run", report.ran, report.kernels,
                    report.kernels == 1 ? "" : "s", report.kernels == 1 ? "was" : "were");
    return out +
           line_text({"verdict", failed == 0 ? fmt::format("conforms; {}", run)
                                             : fmt::format("does not conform: {} of {} checks "
                                                           "failed; {}",
                                                           failed, report.checks.size(), run)},
                     style);
  }

  std::string action_, file_, timeout_ = "20s";
  PoolOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_plugin_command() { return std::make_unique<PluginCommand>(); }

}  // namespace assay::cli
