#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "assay/input/shape_flag.h"
#include "assay/input/suite.h"
#include "cli/exit_code.h"
#include "cli/race_options.h"
#include "cli/show_run.h"

namespace assay::cli {
namespace {

class SweepCommand : public Command {
 public:
  const char* name() const override { return "sweep"; }
  const char* summary() const override { return "Race every kernel on every shape of a suite, and keep the evidence"; }

  void declare(CLI::App& app) override {
    app.add_option("--suite", suite_, "An embedded suite or a YAML file (default: transformer_cpu)")->type_name("NAME|FILE");
    app.add_option("--shapes", names_, "Only these shapes of the suite")->type_name("NAME");
    app.add_option("--shape", shapes_, "Shapes instead of a suite: m=64,n=4096,k=14336,dtype=bf16")->type_name("SHAPE");
    app.add_option("--kernels", kernels_, "Manifests or sources of your own to race too")->type_name("FILE");
    app.add_option("--output-dir", folder_, "Where results go (default: artifacts/<suite>)")->type_name("DIR");
    auto* resume = app.add_flag("--resume", resume_, "Go on with the run that is in the output folder");
    app.add_flag("--fresh", fresh_, "Move a run in the output folder aside")->excludes(resume);
    app.add_flag("--exhaustive", exhaustive_, "Drop no kernel before the race's end");
    options_.declare(app);
  }

  Result<int> run(Context& context) override {
    ASSAY_TRY(sweep::Request request, options_.make_request(context, "sweep"));
    if (!shapes_.empty() && (!suite_.empty() || !names_.empty()))
      return fail(ErrorCode::invalid_input, "--shape stands for a suite: give it, or --suite and --shapes");
    Result<input::Suite> suite = shapes_.empty() ? input::find_suite(suite_.empty() ? "transformer_cpu" : suite_)
                                                 : input::parse_shape_flags(shapes_, "gemm");
    if (!suite) return fail(suite.error());
    ASSAY_TRY(const input::Suite chosen, input::select(*suite, names_));
    request.problems = chosen.problems;
    request.suite = chosen.name;
    request.kernels = kernels_;
    request.exhaustive = exhaustive_;
    request.folder = folder_.empty() ? std::filesystem::path("artifacts") / chosen.name : std::filesystem::path(folder_);
    request.if_present = resume_ ? sweep::IfPresent::resume : fresh_ ? sweep::IfPresent::fresh : sweep::IfPresent::refuse;
    return run_and_show(context, request);
  }

 private:
  std::string suite_, folder_;
  std::vector<std::string> names_, shapes_, kernels_;
  bool resume_ = false, fresh_ = false, exhaustive_ = false;
  RaceOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_sweep_command() { return std::make_unique<SweepCommand>(); }

}  // namespace assay::cli
