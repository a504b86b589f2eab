#include "assay/timing/endings.h"

namespace assay::sweep {

Ending ending_of(const CallFailure& failure, const std::string& stage) {
  if (const auto* death = std::get_if<Death>(&failure)) {
    switch (death->kind) {
      case Death::Kind::timed_out:
        return ending::Timeout{stage, death->limit_seconds};
      case Death::Kind::out_of_memory:
        return ending::OutOfMemory{stage, death->limit_bytes};
      case Death::Kind::broke_protocol:
        return ending::Violation{"protocol",
                                 "meddled with the channel to its harness: " + death->detail};
      case Death::Kind::crashed:
        return ending::Crash{death->signal, death->exit_code, stage, death->output_tail};
    }
  }
  const auto& error = std::get<Error>(failure);
  // What was not built gave no results.
  if (error.code == ErrorCode::build_failed || error.code == ErrorCode::busy)
    return ending::BuildFailure{error.message};
  if (error.code == ErrorCode::device_lost) return ending::DeviceLost{error.message};
  if (error.code == ErrorCode::machine) return ending::OutOfMemory{stage, 0};
  if (error.code == ErrorCode::unsupported) return ending::Refusal{{{"other", error.message}}};
  if (stage == "build") return ending::BuildFailure{error.message};
  return ending::Mismatch{"failed in " + stage + ": " + error.message};
}

Ending late_work(const std::string& what) { return ending::Violation{"background_work", what}; }

Ending left_processes() {
  return ending::Violation{
      "background_work",
      "a process that it started was left behind, where it could slow down every other kernel"};
}

}  // namespace assay::sweep
