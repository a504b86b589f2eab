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
    case ErrorCode::busy:
    case ErrorCode::internal:
      return kMachineFailed;
    case ErrorCode::interrupted:
      return kInterrupted;
  }
  return kMachineFailed;
}

}  // namespace assay::cli
