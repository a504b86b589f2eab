#include "assay/sweep/stages/quarantine.h"

#include <fmt/format.h>

namespace assay::sweep {

void Quarantine::add(const std::string& problem, const KernelOutcome& kernel) {
  const Ending& ending = kernel.ending;
  // Without a limit that it broke it was refused memory, which tells of the problem's size, and of
  // who else was there.
  const auto* const memory = std::get_if<ending::OutOfMemory>(&ending);
  if (std::holds_alternative<ending::Crash>(ending) ||
      std::holds_alternative<ending::Timeout>(ending) ||
      (memory != nullptr && memory->limit_bytes > 0) ||
      std::holds_alternative<ending::DeviceLost>(ending))
    why_.try_emplace({kernel.id, kernel.artifact_hash},
                     fmt::format("in quarantine: on {} it {}", problem, ending_sentence(ending)));
}

void Quarantine::keep_out(Field& field) const {
  for (Candidate& candidate : field.candidates) {
    const auto found = why_.find({candidate.outcome.id, candidate.outcome.artifact_hash});
    if (found != why_.end() && candidate.alive())
      candidate.outcome.ending = ending::NotReached{found->second};
  }
}

}  // namespace assay::sweep
