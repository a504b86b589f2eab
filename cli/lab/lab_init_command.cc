#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/lab/files/template.h"
#include "cli/dot_env.h"
#include "cli/exit_code.h"
#include "cli/lab/lab_commands.h"

namespace assay::cli {
namespace {

class LabInitCommand : public Command {
 public:
  const char* name() const override { return "init"; }
  const char* summary() const override { return "Make a lab in a folder"; }
  const char* example() const override { return "assay lab init my_lab"; }
  const char* description() const override {
    return "Writes lab.yaml and what goes with it. Nothing that is there is overwritten.";
  }
  void declare(Flags& app) override {
    app.add_option("folder", folder_, "Where (default: here)").type_name("DIR");
  }

  Result<int> run(Context& context) override {
    const std::filesystem::path folder = folder_.empty() ? "." : folder_;
    std::error_code ignored;
    if (std::filesystem::exists(folder / "lab.yaml", ignored))
      return fail(ErrorCode::invalid_input,
                  "'{}' is a lab already (lab.yaml), and nothing is overwritten: `assay lab new` "
                  "makes a case in it",
                  sanitize(folder.string(), 300));
    ASSAY_TRY(auto files, lab::read_template({}, "lab"));
    files.push_back({".env.example", dot_env_example()});
    ASSAY_TRY(lab::stamp(files, {}, folder));
    ASSAY_TRY(link_skills(folder));
    if (context.console.json())
      context.console.result(dump_pretty(
          {{"schema", "assay.lab_init/1"}, {"folder", folder.string()}, {"files", files.size()}}));
    else
      context.console.result(fmt::format(
          "lab       {}, {} files\nnext      assay lab new --model-slug MODEL --case-slug CASE "
          "--model-name NAME --model-path models/MODEL --hardware NAME\n",
          sanitize(folder.string(), 300), files.size()));
    return kDone;
  }

 private:
  // Each kind of agent looks for skills in a folder of its own.
  static Status link_skills(const std::filesystem::path& folder) {
    for (const char* place : {".codex", ".agents"}) {
      std::error_code failed;
      std::filesystem::create_directories(folder / place, failed);
      if (!failed)
        std::filesystem::create_directory_symlink("../skills", folder / place / "skills", failed);
      if (failed && failed != std::errc::file_exists)
        return fail(ErrorCode::machine, "{}/{}/skills: {}", folder.string(), place,
                    failed.message());
    }
    return {};
  }

  std::string folder_;
};

}  // namespace

std::unique_ptr<Command> make_lab_init_command() { return std::make_unique<LabInitCommand>(); }

}  // namespace assay::cli
