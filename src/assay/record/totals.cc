#include "assay/record/totals.h"

#include <string_view>

namespace assay {

void count(Totals& totals, const ProblemRecord& problem) {
  for (const KernelOutcome& kernel : problem.kernels) {
    ++totals.trials;
    if (kernel.proof && kernel.proof->right) ++totals.proven;
    const std::string_view name = ending_name(kernel.ending);
    if (name == "mismatch" || name == "violation") ++totals.wrong;
    if (name == "crash" || name == "timeout" || name == "out_of_memory" || name == "device_lost")
      ++totals.crashed;
    if (name == "build_failure" || name == "not_reached") ++totals.left_out;
  }
  for (const auto& [reason, refusal] : problem.refusals) totals.refused += refusal.count;
}

}  // namespace assay
