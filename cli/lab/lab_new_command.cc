#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/json.h"
#include "assay/base/shell_word.h"
#include "assay/base/text.h"
#include "assay/lab/files/lab_file.h"
#include "assay/lab/files/template.h"
#include "cli/exit_code.h"
#include "cli/lab/lab_commands.h"

namespace assay::cli {
namespace {

class LabNewCommand : public Command {
 public:
  const char* name() const override { return "new"; }
  const char* summary() const override { return "Stamp a case from a template"; }
  const char* example() const override {
    return "assay lab new --model-slug my_model --case-slug cpu_decode --model-name org/model "
           "--model-path models/my-model --hardware \"two cores\"";
  }
  const char* description() const override {
    return "Makes cases/MODEL/CASE with its benchmarks, its workspace and its notes. A folder of "
           "that name under the lab's templates/ wins over the template in the program. Nothing "
           "that is there is overwritten.";
  }
  void declare(Flags& app) override {
    app.add_option("--model-slug", model_slug_, "The model's folder").required().type_name("SLUG");
    app.add_option("--case-slug", case_slug_, "The case's folder").required().type_name("SLUG");
    app.add_option("--model-name", model_name_, "As its publisher calls it: org/model")
        .required()
        .type_name("NAME");
    app.add_option("--model-path", model_path_, "Where its snapshot lies, from the lab's folder")
        .required()
        .type_name("DIR");
    app.add_option("--hardware", hardware_, "What it is to run on, in words")
        .required()
        .type_name("NAME");
    app.add_option("--template", template_, "Of this name").type_name("NAME").show_default();
  }

  Result<int> run(Context& context) override {
    ASSAY_TRY(lab::check_slug("--model-slug", model_slug_));
    ASSAY_TRY(lab::check_slug("--case-slug", case_slug_));
    ASSAY_TRY(const lab::Lab lab, lab::find_lab("."));
    ASSAY_TRY(const auto files, lab::read_template(lab.root / "templates", template_));
    const std::filesystem::path folder = lab.root / lab.cases_folder / model_slug_ / case_slug_;
    const std::string device = context.venue.is_cpu() ? "cpu" : "GPU-" + context.venue.gpu;
    const lab::TemplateValues values = {
        {"model_slug", model_slug_},
        {"case_slug", case_slug_},
        {"model_name", lab::yaml_quoted(model_name_)},
        {"model_path", lab::yaml_quoted(model_path_)},
        {"hardware", lab::yaml_quoted(hardware_)},
        {"device", context.venue.gpu.starts_with("GPU-") ? context.venue.gpu : device}};
    ASSAY_TRY(lab::stamp(files, values, folder));
    const std::string shown = folder.lexically_relative(lab.root).string();
    if (context.console.json())
      context.console.result(dump_pretty(
          {{"schema", "assay.lab_new/1"}, {"folder", folder.string()}, {"files", files.size()}}));
    else
      context.console.result(fmt::format(
          "case      {}, {} files\nnext      cd {} && assay lab check --build\n",
          sanitize(shown, 300), files.size(), shell_word(sanitize(folder.string(), 300))));
    return kDone;
  }

 private:
  std::string model_slug_, case_slug_, model_name_, model_path_, hardware_;
  std::string template_ = "kernel_hillclimb_case";
};

}  // namespace

std::unique_ptr<Command> make_lab_new_command() { return std::make_unique<LabNewCommand>(); }

}  // namespace assay::cli
