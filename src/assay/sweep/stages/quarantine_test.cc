#include "assay/sweep/stages/quarantine.h"

#include <gtest/gtest.h>

namespace assay::sweep {
namespace {

bool keeps_out(const Ending& ending) {
  KernelOutcome kernel;
  kernel.id = "id";
  kernel.artifact_hash = "artifact";
  kernel.ending = ending;
  Quarantine quarantine;
  quarantine.add("large", kernel);
  Field field;
  Candidate& candidate = field.candidates.emplace_back();
  candidate.outcome.id = "id";
  candidate.outcome.artifact_hash = "artifact";
  candidate.outcome.ending = ending::Timed{};
  quarantine.keep_out(field);
  return !is_timed(field.candidates.front().outcome.ending);
}

TEST(Quarantine, KeepsOutWhatBroughtAWorkerDown) {
  EXPECT_TRUE(keeps_out(ending::Crash{}));
  EXPECT_TRUE(keeps_out(ending::Timeout{}));
  EXPECT_TRUE(keeps_out(ending::OutOfMemory{.stage = "timing", .limit_bytes = 1 << 20}));
  EXPECT_FALSE(keeps_out(ending::Timed{}));
}

// A GPU that was full of a large problem says nothing of the same kernel on a small one.
TEST(Quarantine, ARefusedAllocationIsOfItsProblem) {
  EXPECT_FALSE(keeps_out(ending::OutOfMemory{.stage = "bind", .limit_bytes = 0}));
}

}  // namespace
}  // namespace assay::sweep
