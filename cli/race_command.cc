#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/text.h"
#include "assay/input/manifest.h"
#include "assay/input/shape_flag.h"
#include "cli/exit_code.h"
#include "cli/race_options.h"
#include "cli/show_run.h"

namespace assay::cli {
namespace {

class RaceCommand : public Command {
 public:
  const char* name() const override { return "race"; }
  const char* summary() const override { return "Race your kernel against the stock pool: one verdict"; }

  void declare(CLI::App& app) override {
    app.add_option("files", files_, "Your kernels: FILE or FILE::ENTRY")->required()->type_name("FILE");
    app.add_option("--shape", shapes_, "m=1,n=4096,k=4096,dtype=f32; repeat for more")->required()->type_name("SHAPE");
    app.add_option("--output-dir", folder_, "Where the record goes (default: runs/<n>-<kernel>)")->type_name("DIR");
    options_.declare(app);
  }

  Result<int> run(Context& context) override {
    ASSAY_TRY(sweep::Request request, options_.make_request(context, "race"));
    for (const std::string& file : files_) ASSAY_TRY(input::read_kernels(file).map([](const auto&) {}));
    ASSAY_TRY(const input::Suite suite, input::parse_shape_flags(shapes_, "gemm"));
    request.problems = suite.problems;
    request.kernels = files_;
    request.folder = folder_.empty() ? next_run_folder(std::filesystem::path(files_.front().substr(0, files_.front().find("::"))).stem().string())
                                     : std::filesystem::path(folder_);
    return run_and_show(context, request);
  }

 private:
  std::vector<std::string> files_, shapes_;
  std::string folder_;
  RaceOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_race_command() { return std::make_unique<RaceCommand>(); }

}  // namespace assay::cli
