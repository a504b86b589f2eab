#include <nlohmann/json.hpp>

#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/lab/climb/brief.h"
#include "assay/report/width.h"
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
            : shown(sanitize(text, text.size() + 1, Newlines::keep), context.console));
    return kDone;
  }

 private:
  // A terminal would break lines within words; an agent gets them as they are.
  static std::string shown(const std::string& text, const Console& console) {
    if (!console.terminal_out()) return text;
    std::string lines;
    bool is_code = false;
    const std::string_view body = std::string_view(text).substr(0, text.find_last_not_of('\n') + 1);
    for (const std::string_view line : split(body, '\n')) {
      const bool fence = line.starts_with("```");
      is_code = is_code != fence;
      const bool as_it_is = fence || is_code || line.starts_with('|');
      lines += as_it_is ? std::string(line) + '\n'
                        : report::wrap(line, console.width_out(), line.starts_with("- ") ? 2 : 0);
    }
    return lines;
  }

  CaseFlag case_;
};

}  // namespace

std::unique_ptr<Command> make_lab_brief_command() { return std::make_unique<LabBriefCommand>(); }

}  // namespace assay::cli
