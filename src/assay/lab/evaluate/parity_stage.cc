#include "assay/lab/evaluate/parity_stage.h"

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/base/file.h"
#include "assay/lab/evaluate/http_load.h"
#include "assay/lab/evaluate/parity.h"

namespace assay::lab {
namespace {

constexpr double kParityCommandSeconds = 3600;  // Of one run of the command.

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

  Result<bool> run(const ProgramRunner& runner, const Side& candidate, const Side& incumbent) {
    const std::string why = parity_needed();
    if (why.empty()) {
      add_stage(stage_.record, "parity", "skipped", 0, "no benchmark asks for it");
      return true;
    }
    stage_.observer.on_stage("parity");
    const int64_t began = monotonic_ns();
    ASSAY_TRY(const std::string reason, run_parity(runner, candidate, incumbent, why));
    add_stage(stage_.record, "parity", reason.empty() ? "passed" : "failed", seconds_since(began),
              reason);
    if (reason.empty()) return true;
    conclude(stage_.record, AttemptOutcome::parity_failed, reason);
    return false;
  }

  // Why it does not hold; empty where it does.
  Result<std::string> run_parity(const ProgramRunner& runner, const Side& side,
                                 const Side& incumbent, const std::string& why) {
    if (!stage_.target.parity) return fmt::format("{}, and case.yaml has no parity", why);
    const Parity& parity = *stage_.target.parity;
    const std::string path = (side.folder / parity.reference).string();
    ASSAY_TRY(const std::string text, read_file(path));
    ASSAY_TRY(const ParityAnswers reference, read_parity_answers(text, parity.reference));
    std::string failed;
    ASSAY_TRY(const ParityAnswers answers, ask(runner, parity, side, "parity-1", failed));
    if (!failed.empty()) return failed;
    std::optional<double> tolerance;
    if (!stage_.record.baseline) {
      ASSAY_TRY(tolerance, baseline_tolerance());
    }
    if (!tolerance) {
      ASSAY_TRY(tolerance, own_tolerance(runner, parity, side, incumbent, answers, failed));
      if (!failed.empty()) return failed;
    }
    const ParityVerdict verdict = compare_parity(reference, answers, *tolerance);
    stage_.record.parity = {{"prompts", verdict.prompts},
                            {"close_calls", verdict.close_calls},
                            {"tolerance", *tolerance},
                            {"holds", verdict.holds}};
    return verdict.reason;
  }

  // What the command or the case's server says in that folder; `failed`: why it says nothing.
  Result<ParityAnswers> ask(const ProgramRunner& runner, const Parity& parity, const Side& side,
                            const std::string& label, std::string& failed) const {
    Environment environment = side.environment;
    environment["ASSAY_PROMPTS"] = (side.folder / parity.prompts).string();
    environment["ASSAY_WORKSPACE"] = (side.folder / "workspace").string();
    Command words = parity.command;
    if (words.empty()) {
      words = {"/proc/self/exe", "lab", "parity", "--prompts=" + environment["ASSAY_PROMPTS"],
               fmt::format("--ready-timeout={}s", stage_.target.server->ready_seconds)};
      for (const std::string& word : server_command(*stage_.target.server))
        words.push_back("--start=" + word);
    }
    ASSAY_TRY(const ProgramRun run,
              runner.run(label, words, side.folder, environment, kParityCommandSeconds));
    if (run.failure) {
      failed = run.reason;
      return ParityAnswers();
    }
    auto answers = read_parity_answers(run.out, "the answers");
    if (answers) return answers;
    failed = answers.error().message;
    return ParityAnswers();
  }

  // How far two runs of one tree differ is how far a rounding can go: of the baseline, or else of
  // the best state, since a change must not widen what it is allowed.
  Result<double> own_tolerance(const ProgramRunner& runner, const Parity& parity, const Side& side,
                               const Side& incumbent, const ParityAnswers& of_side,
                               std::string& failed) const {
    if (stage_.record.baseline) {
      ASSAY_TRY(const ParityAnswers again, ask(runner, parity, side, "parity-2", failed));
      return failed.empty() ? parity_tolerance(of_side, again) : 0.0;
    }
    ASSAY_TRY(const ParityAnswers one,
              ask(runner, parity, incumbent, "parity-incumbent-1", failed));
    if (failed.empty()) {
      ASSAY_TRY(const ParityAnswers two,
                ask(runner, parity, incumbent, "parity-incumbent-2", failed));
      if (failed.empty()) return parity_tolerance(one, two);
    }
    failed = "the incumbent failed: " + failed;
    return 0.0;
  }

  // Of the baseline of this series, whose record has it; none where it did not have to show parity.
  Result<std::optional<double>> baseline_tolerance() const {
    ASSAY_TRY(const HistoryContent content, read_history(stage_.target.folder / "runs"));
    for (const Attempt& attempt : content.attempts) {
      if (attempt.series != stage_.record.series || !attempt.baseline || attempt.record.empty())
        continue;
      const auto record =
          load_attempt_record((stage_.target.folder / "runs" / attempt.record).string());
      if (record && record->parity.is_object() && record->parity.contains("tolerance"))
        return std::optional<double>(record->parity.value("tolerance", 0.0));
    }
    return std::optional<double>();
  }

  const StageContext& stage_;
};

}  // namespace

Result<bool> check_parity(const StageContext& stage, const ProgramRunner& runner,
                          const Side& candidate, const Side& incumbent) {
  return ParityStage(stage).run(runner, candidate, incumbent);
}

}  // namespace assay::lab
