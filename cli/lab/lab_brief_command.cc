#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/lab/climb/brief.h"
#include "assay/lab/files/series.h"
#include "cli/exit_code.h"
#include "cli/lab/evaluate_setup.h"
#include "cli/lab/lab_commands.h"
#include "cli/lab/lab_place.h"

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
    ASSAY_TRY(const lab::HistoryContent content, lab::read_history(place.runs()));
    ASSAY_TRY(const lab::Tree tree, lab::read_tree(place.target.folder));
    ASSAY_TRY(const lab::Series series,
              lab::series_of(place.lab, place.target, tree, device_of(context)));
    const std::string tag = context.settings.run_tag.empty()
                                ? lab::default_run_tag(utc_now_iso8601())
                                : context.settings.run_tag;
    const lab::BriefFacts facts = lab::brief_facts(place.target, content, series.id, tag);
    const std::string text = lab::brief_text(place.target, content, facts);
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
