#include "assay/process/messages/guard.h"

#include "assay/process/messages/describe.h"

namespace assay::process {

template <class A, archive::Is<GuardBegins> T>
void describe(A& archive, T& begins) {
  archive("confining", begins.confining);
}

template <class A, archive::Is<GuardStands> T>
void describe(A& archive, T& stands) {
  archive("worker", stands.worker);
  archive("error", stands.error, kSentence);
}

Status GuardStands::check() const {
  constexpr size_t kShown = 3;
  if (files.empty() || files.size() == kShown) return {};
  return fail(ErrorCode::invalid_input, "a guard opened {} of {} files", files.size(), kShown);
}

template <class A, archive::Is<GuardStops> T>
void describe(A& archive, T& stops) {
  archive("stop", stops.stop);
}

template <class A, archive::Is<GuardTells> T>
void describe(A& archive, T& tells) {
  archive("stopped", tells.stopped);
  archive("status", tells.status);
}

ASSAY_MESSAGE(GuardBegins);
ASSAY_MESSAGE(GuardStands);
ASSAY_MESSAGE(GuardStops);
ASSAY_MESSAGE(GuardTells);

}  // namespace assay::process
