#include <fmt/format.h>

#include "assay/base/json.h"
#include "assay/base/version.h"
#include "cli/command.h"
#include "cli/exit_code.h"

namespace assay::cli {
namespace {

class VersionCommand : public Command {
 public:
  const char* name() const override { return "version"; }
  const char* summary() const override { return "Which assay this is, and how it was built"; }
  const char* example() const override { return "assay version --json"; }
  void declare(Flags&) override {}

  Result<int> run(Context& context) override {
    if (!context.console.json()) {
      context.console.result(version_text());
      return kDone;
    }
    const BuildInfo& build = build_info();
    context.console.result(dump_pretty({{"schema", "assay.version/1"},
                                        {"version", build.version},
                                        {"revision", build.revision},
                                        {"compiler", build.compiler},
                                        {"build_type", build.build_type},
                                        {"flags", build.flags},
                                        {"sanitized", build.sanitized}}));
    return kDone;
  }
};

}  // namespace

std::string version_text() {
  const BuildInfo& build = build_info();
  return fmt::format("assay {} ({}, {}, {}{})\n", build.version, build.revision, build.compiler,
                     build.build_type, build.sanitized ? ", sanitizers: timings mean nothing" : "");
}

std::unique_ptr<Command> make_version_command() { return std::make_unique<VersionCommand>(); }

}  // namespace assay::cli
