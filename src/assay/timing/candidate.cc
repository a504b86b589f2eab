#include "assay/timing/candidate.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"

namespace assay::sweep {

process::BuiltKernel Candidate::built_kernel() const {
  return {row(), {outcome.artifact_hash, artifact_file, outcome.artifact_facts.json()}};
}

void Candidate::take_over(KernelOutcome earlier, double earlier_launch_ns) {
  // The same, but shared with others of its family.
  earlier.metadata = outcome.metadata;
  earlier.ranks = outcome.ranks;
  if (built) earlier.artifact_facts = outcome.artifact_facts;
  launch_ns = earlier_launch_ns;
  outcome = std::move(earlier);
  proven = alive();
}

void Candidate::add_facts(const process::ObjectFacts& facts) {
  constexpr size_t kMostFindings = 16;
  outcome.own_memory_bytes = std::max(outcome.own_memory_bytes.value_or(0), facts.own_memory_bytes);
  for (const Finding& told : facts.loaded) {
    if (told.code != "float_control" && told.code != "process_state") continue;
    const Finding found{told.code, fmt::format("when it was loaded it {}; that was put back",
                                               sanitize(told.sentence, 300))};
    if (outcome.findings.size() < kMostFindings &&
        std::ranges::find(outcome.findings, found) == outcome.findings.end())
      outcome.findings.push_back(found);
  }
}

}  // namespace assay::sweep
