#include "assay/lab/evaluate/parity_stage.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/base/file.h"
#include "assay/lab/evaluate/http_load.h"
#include "assay/lab/evaluate/parity.h"

namespace assay::lab {
namespace {

constexpr double kCommandSeconds = 3600;  // Of one run of the command.

class ParityStage {
 public:
  explicit ParityStage(const StageContext& stage) : stage_(stage) {}

  // Why parity must be shown; empty where it need not.
  std::string parity_needed() const {
    if (stage_.options.target == "graph_state") return "the target is graph_state";
    for (const Benchmark* benchmark : stage_.plan.benchmarks) {
      if (!benchmark->hazards.empty())
        return fmt::format("{} has the hazard {}", benchmark->name, benchmark->hazards.front());
      if (stage_.target.parity &&
          std::ranges::find(stage_.target.parity->before, benchmark->name) !=
              stage_.target.parity->before.end())
        return fmt::format("it goes before {}", benchmark->name);
    }
    return {};
  }

  Result<bool> run(const ProgramRunner& runner, const Side& side) {
    const std::string why = parity_needed();
    if (why.empty()) {
      add_stage(stage_.record, "parity", "skipped", 0, "no benchmark asks for it");
      return true;
    }
    stage_.observer.on_stage("parity");
    const int64_t began = monotonic_ns();
    ASSAY_TRY(const std::string reason, run_parity(runner, side, why));
    add_stage(stage_.record, "parity", reason.empty() ? "passed" : "failed", seconds_since(began),
              reason);
    if (reason.empty()) return true;
    conclude(stage_.record, AttemptOutcome::parity_failed, reason);
    return false;
  }

  // Why it does not hold; empty where it does.
  Result<std::string> run_parity(const ProgramRunner& runner, const Side& side,
                                 const std::string& why) {
    if (!stage_.target.parity) return fmt::format("{}, and case.yaml has no parity", why);
    const Parity& parity = *stage_.target.parity;
    const std::string path = (side.folder / parity.reference).string();
    ASSAY_TRY(const std::string text, read_file(path));
    ASSAY_TRY(const ParityAnswers reference, read_parity_answers(text, parity.reference));
    Environment environment = side.environment;
    environment["ASSAY_PROMPTS"] = (side.folder / parity.prompts).string();
    Command words = parity.command;
    if (words.empty()) {
      words = {"/proc/self/exe", "lab", "parity", "--prompts=" + environment["ASSAY_PROMPTS"],
               fmt::format("--ready-timeout={}s", stage_.target.server->ready_seconds)};
      environment["ASSAY_WORKSPACE"] = (side.folder / "workspace").string();
      for (const std::string& word : server_command(*stage_.target.server))
        words.push_back("--start=" + word);
    }
    // Twice: how far two runs of one tree differ is how far a rounding can go.
    std::vector<ParityAnswers> runs;
    for (const char* label : {"parity-1", "parity-2"}) {
      ASSAY_TRY(const ProgramRun run,
                runner.run(label, words, side.folder, environment, kCommandSeconds));
      if (run.failure) return run.reason;
      auto answers = read_parity_answers(run.out, "the answers");
      if (!answers) return answers.error().message;
      runs.push_back(std::move(*answers));
      if (!stage_.record.baseline) break;
    }
    double tolerance = 0;
    if (runs.size() == 2) {
      tolerance = parity_tolerance(runs[0], runs[1]);
    } else {
      ASSAY_TRY(tolerance, baseline_tolerance());
    }
    const ParityVerdict verdict = compare_parity(reference, runs[0], tolerance);
    stage_.record.parity = {{"prompts", verdict.prompts},
                            {"close_calls", verdict.close_calls},
                            {"tolerance", tolerance},
                            {"holds", verdict.holds}};
    return verdict.reason;
  }

  // Of the baseline of this series, whose record has it.
  Result<double> baseline_tolerance() const {
    ASSAY_TRY(const HistoryContent content, read_history(stage_.target.folder / "runs"));
    for (const Attempt& attempt : content.attempts) {
      if (attempt.series != stage_.record.series || !attempt.baseline || attempt.record.empty())
        continue;
      const auto record =
          load_attempt_record((stage_.target.folder / "runs" / attempt.record).string());
      if (record && record->parity.is_object()) return record->parity.value("tolerance", 0.0);
    }
    return 0.0;
  }

  const StageContext& stage_;
};

}  // namespace

Result<bool> check_parity(const StageContext& stage, const ProgramRunner& runner,
                          const Side& side) {
  return ParityStage(stage).run(runner, side);
}

}  // namespace assay::lab
