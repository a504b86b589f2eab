#include "cli/race/against.h"

#include "assay/record/conclude.h"

namespace assay::cli {

std::optional<Against> verdict_against(const ProblemRecord& problem, const RunOptions& options,
                                       const KernelTest& mine, const KernelTest& others) {
  const Confirmation* confirmation = problem.decisive();
  if (confirmation == nullptr) return std::nullopt;
  const KernelOutcome* candidate = nullptr;
  for (const std::string& id : confirmation->finalists) {
    const KernelOutcome* kernel = problem.find(id);
    if (kernel != nullptr && is_timed(kernel->ending) && mine(*kernel) &&
        (candidate == nullptr || id == confirmation->candidate))
      candidate = kernel;
  }
  if (candidate == nullptr) return std::nullopt;
  std::vector<stats::Verdict> verdicts;
  std::vector<const KernelOutcome*> opponents;
  for (const std::string& id : confirmation->finalists) {
    const KernelOutcome* kernel = problem.find(id);
    if (kernel == nullptr || kernel == candidate || !is_timed(kernel->ending) || !others(*kernel))
      continue;
    verdicts.push_back(judge_pair(problem, *confirmation, options, candidate->id, id));
    opponents.push_back(kernel);
  }
  Against against;
  if (verdicts.empty()) {
    against.verdict.reason = "no such kernel was confirmed";
    return against;
  }
  against.verdict = stats::weakest(verdicts);
  for (size_t i = 0; i < verdicts.size(); ++i)
    if (verdicts[i].word == against.verdict.word && verdicts[i].low == against.verdict.low) {
      against.other = opponents[i]->label();
      break;
    }
  return against;
}

}  // namespace assay::cli
