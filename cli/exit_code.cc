#include "cli/exit_code.h"

namespace assay::cli {

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_input:
    case ErrorCode::not_found:
      return kBadInput;
    case ErrorCode::unsupported:
    case ErrorCode::build_failed:
      return kNothingRan;
    case ErrorCode::missing:
    case ErrorCode::stale:
      return kMissingRecords;
    case ErrorCode::failed:
    case ErrorCode::machine:
    case ErrorCode::device_lost:
    case ErrorCode::busy:
    case ErrorCode::internal:
      return kMachineFailed;
    case ErrorCode::interrupted:
      return kInterrupted;
  }
  return kMachineFailed;
}

std::span<const ExitMeaning> exit_meanings() {
  static constexpr ExitMeaning kMeanings[] = {
      {kDone, "Done: every problem has a winner, every claim holds."},
      {kRefuted, "A claim was refuted, a regression found, or some problem has no winner."},
      {kBadInput, "Usage, or a file that is wrong: the sentence names file, line and field."},
      {kMissingRecords, "Records are missing or stale."},
      {kNothingRan, "Nothing could run."},
      {kMachineFailed, "The machine failed: disk full, a worker cannot start, a lock is refused."},
      {kInterrupted, "Interrupted; the journal is complete."},
  };
  return kMeanings;
}

}  // namespace assay::cli
