#include "cli/lab/lab_commands.h"

namespace assay::cli {
namespace {

class LabCommand : public Command {
 public:
  LabCommand() {
    for (const auto make :
         {make_lab_init_command,   make_lab_new_command,      make_lab_check_command,
          make_lab_eval_command,   make_lab_history_command,  make_lab_plot_command,
          make_lab_report_command, make_lab_show_command,     make_lab_status_command,
          make_lab_brief_command,  make_lab_diff_command,     make_lab_apply_command,
          make_lab_replay_command, make_lab_serve_command,    make_lab_hillclimb_command,
          make_lab_notify_command, make_lab_reablate_command, make_lab_refs_command,
          make_lab_prune_command,  make_lab_reindex_command,  make_lab_parity_command})
      commands_.push_back(make());
  }

  const char* name() const override { return "lab"; }
  const char* summary() const override {
    return "A model's kernels as a research target: cases, attempts, and what is kept";
  }
  const char* example() const override { return "assay lab eval --description \"unroll by 8\""; }
  const char* description() const override {
    return "A lab is a folder with lab.yaml. A case in it has one model, one hardware target, one "
           "objective, fixed benchmarks, and a workspace that may change. An attempt builds the "
           "workspace, checks it, measures it side by side with the best state so far, and keeps "
           "it when the gain is proven. What was tried stays in the case's runs/.";
  }
  void declare(Flags&) override {}
  std::span<const std::unique_ptr<Command>> commands() const override { return commands_; }
  Result<int> run(Context&) override {
    return fail(ErrorCode::internal, "lab is run by its commands");
  }

 private:
  std::vector<std::unique_ptr<Command>> commands_;
};

}  // namespace

std::unique_ptr<Command> make_lab_command() { return std::make_unique<LabCommand>(); }

}  // namespace assay::cli
