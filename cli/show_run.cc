#include "cli/show_run.h"

#include <fmt/format.h>

#include "assay/record/conclude.h"
#include "cli/exit_code.h"

namespace assay::cli {
namespace {

class PlainProgress : public sweep::Observer {
 public:
  explicit PlainProgress(Console& console) : console_(console) {}
  void on_problem(size_t index, const Problem& problem, const measure::Condition&) override {
    console_.progress(fmt::format("{:>3}  {}", index + 1, problem.name()));
  }
  void on_stage(const std::string& stage, size_t done, size_t total, const std::string& what) override {
    if (console_.verbosity() > 0) console_.progress(fmt::format("     {} {}/{} {}", stage, done, total, what));
  }
  void on_problem_done(size_t, const ProblemRecord& record, bool) override {
    if (const auto* decisive = record.decisive()) {
      const auto& conclusion = decisive->conclusion;
      for (const auto& time : conclusion.times) {
        const auto* kernel = record.find(time.id);
        std::string verdict;
        for (const auto& pair : conclusion.against_leader)
          if (pair.candidate == time.id) verdict = fmt::format("{} {:.4f} [{:.4f} {:.4f}]", stats::to_string(pair.verdict.word), pair.verdict.ratio, pair.verdict.low, pair.verdict.high);
        console_.progress(fmt::format("       {:<44} {:>10.2f} us  {}", kernel->label(), time.median_us, verdict));
      }
      if (conclusion.headline) console_.progress(fmt::format("       verdict {} {:.4f} [{:.4f} {:.4f}] {}", stats::to_string(conclusion.headline->verdict.word), conclusion.headline->verdict.ratio, conclusion.headline->verdict.low, conclusion.headline->verdict.high, conclusion.headline->verdict.reason));
    }
    for (const auto& kernel : record.kernels)
      if (!is_timed(kernel.ending)) console_.progress(fmt::format("       {} {}", kernel.label(), ending_sentence(kernel.ending)));
  }
  void on_note(const std::string& sentence) override { console_.note(sentence); }

 private:
  Console& console_;
};

}  // namespace

std::filesystem::path next_run_folder(const std::string& name) {
  for (int n = 1;; ++n) {
    const auto folder = std::filesystem::path("runs") / fmt::format("{:04}-{}", n, name);
    std::error_code ignored;
    if (!std::filesystem::exists(folder, ignored)) return folder;
  }
}

Result<int> run_and_show(Context& context, const sweep::Request& request) {
  PlainProgress progress(context.console);
  ASSAY_TRY(const RunRecord record, sweep::run(request, progress));
  context.console.note(fmt::format("record {}  wall {:.1f} s timed {:.1f} s", (request.folder / "record.json").string(), record.totals.wall_seconds, record.totals.timed_seconds));
  for (const ProblemRecord& problem : record.problems)
    if (problem.winner() == nullptr) return kRefuted;
  return kDone;
}

}  // namespace assay::cli
