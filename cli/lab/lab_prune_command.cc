#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/counted.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/lab/files/prune.h"
#include "cli/exit_code.h"
#include "cli/lab/lab_commands.h"
#include "cli/lab/lab_place.h"

namespace assay::cli {
namespace {

class LabPruneCommand : public Command {
 public:
  const char* name() const override { return "prune"; }
  const char* summary() const override {
    return "Remove what can be had again: stray objects, and copies in the cache";
  }
  const char* example() const override { return "assay lab prune --dry-run"; }
  const char* description() const override {
    return "Removes objects of runs/objects that no attempt needs, and the copies in the cache of "
           "cases that are no longer there. History, records, and whatever makes an attempt again "
           "stay.";
  }

  void declare(Flags& app) override {
    case_.declare(app);
    app.add_flag("--dry-run", dry_run_, "Say what would be removed, and remove nothing");
  }

  Result<int> run(Context& context) override {
    ASSAY_TRY(const LabPlace place, case_.find());
    ASSAY_TRY(const lab::Pruned pruned,
              lab::prune(place.target.folder, context.settings.cache, dry_run_));
    if (context.console.json())
      context.console.result(dump_pretty({{"schema", "assay.lab_prune/1"},
                                          {"dry_run", dry_run_},
                                          {"objects", pruned.objects},
                                          {"object_bytes", pruned.object_bytes},
                                          {"copies", pruned.copies}}));
    else
      context.console.result(fmt::format(
          "{}  {} ({}), {} of cases that are gone\n", dry_run_ ? "would be" : "removed ",
          counted(pruned.objects, "object"), format_bytes(pruned.object_bytes),
          pruned.copies == 1 ? "1 copy" : fmt::format("{} copies", pruned.copies)));
    return kDone;
  }

 private:
  CaseFlag case_;
  bool dry_run_ = false;
};

}  // namespace

std::unique_ptr<Command> make_lab_prune_command() { return std::make_unique<LabPruneCommand>(); }

}  // namespace assay::cli
