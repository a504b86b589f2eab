#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/counted.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/lab/files/history_index.h"
#include "cli/exit_code.h"
#include "cli/lab/lab_commands.h"
#include "cli/lab/lab_place.h"

namespace assay::cli {
namespace {

class LabReindexCommand : public Command {
 public:
  const char* name() const override { return "reindex"; }
  const char* summary() const override { return "Make the index of a case's history anew"; }
  const char* example() const override { return "assay lab reindex"; }
  const char* description() const override {
    return "Reads every line of runs/history.jsonl and checks it. The index lies in the cache, is "
           "made by itself once a history is long, and counts only while the history begins with "
           "what it was made from.";
  }

  void declare(Flags& app) override { case_.declare(app); }

  Result<int> run(Context& context) override {
    ASSAY_TRY(const LabPlace place, case_.find());
    const auto index = lab::index_file(context.settings.cache, place.target.folder);
    ASSAY_TRY(const lab::HistoryContent content, lab::reindex_history(place.runs(), index));
    if (context.console.json())
      context.console.result(dump_pretty({{"schema", "assay.lab_reindex/1"},
                                          {"file", index.string()},
                                          {"attempts", content.attempts.size()},
                                          {"skips", content.skips.size()}}));
    else
      context.console.result(
          fmt::format("index     {}, {}, in {}\n", counted(std::ssize(content.attempts), "attempt"),
                      counted(std::ssize(content.skips), "skip"), sanitize(index.string(), 300)));
    return kDone;
  }

 private:
  CaseFlag case_;
};

}  // namespace

std::unique_ptr<Command> make_lab_reindex_command() {
  return std::make_unique<LabReindexCommand>();
}

}  // namespace assay::cli
