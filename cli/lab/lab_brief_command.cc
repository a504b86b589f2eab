#include <nlohmann/json.hpp>

#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/lab/climb/brief.h"
#include "cli/exit_code.h"
#include "cli/lab/lab_commands.h"
#include "cli/lab/lab_standing.h"

namespace assay::cli {
namespace {

class LabBriefCommand : public Command {
 public:
  const char* name() const override { return "brief"; }
  const char* summary() const override { return "What an agent is told before its turn"; }
  const char* example() const override { return "assay lab brief"; }
  const char* description() const override {
    return "The best state so far, the smallest gain that could be kept, the last attempts with "
           "their reasons, the families that led nowhere, the plan, and advice; as markdown.";
  }

  void declare(Flags& app) override { case_.declare(app); }

  Result<int> run(Context& context) override {
    ASSAY_TRY(const LabPlace place, case_.find());
    ASSAY_TRY(const Standing standing, standing_of(context, place));
    const lab::BriefFacts facts =
        lab::brief_facts(place.target, standing.content, standing.series.id, standing.run_tag);
    const std::string text = lab::brief_text(place.target, standing.content, facts);
    context.console.result(
        context.console.json()
            ? dump_pretty(
                  {{"schema", "assay.lab_brief/1"}, {"series", facts.series}, {"text", text}})
            : sanitize(text, text.size() + 1, Newlines::keep));
    return kDone;
  }

 private:
  CaseFlag case_;
};

}  // namespace

std::unique_ptr<Command> make_lab_brief_command() { return std::make_unique<LabBriefCommand>(); }

}  // namespace assay::cli
