// A kernel so slow that one burst of it spends the budget.

#include <optional>
#include <string>
#include <variant>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "testing/assay_program.h"

namespace assay {
namespace {

using testing::AssayProgram;

// Right, takes 3 ms a call, so that each burst is of one launch, and crashes when it is called once
// more than `calls` times.
std::string slow_kernel(int calls) {
  return fmt::format(
      R"(// assay: {{entry: slow, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}}
#include <time.h>
static long now() {{
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}}
extern "C" void slow(const float* a, const float* b, float* out, long m, long n, long k) {{
  static int calls = 0;
  if (++calls > {}) __builtin_trap();
  const long until = now() + 3000000;
  for (long i = 0; i < m; ++i)
    for (long j = 0; j < n; ++j) {{
      out[i * n + j] = 0;
      for (long p = 0; p < k; ++p) out[i * n + j] += a[i * k + p] * b[p * n + j];
    }}
  while (now() < until) {{}}
}}
)",
      calls);
}

// What `assay run` says of it.
KernelOutcome outcome_of(int calls, const std::string& budget) {
  const AssayProgram assay;
  EXPECT_TRUE(write_file_atomic(assay.file("slow.cc"), slow_kernel(calls)));
  const auto finished = assay.run({"run", "slow", "--kernels", "slow.cc", "--shape",
                                   "m=4,n=8,k=8,dtype=f32,layout=tt", "--threads", "1", "--budget",
                                   budget, "--output-dir", "run"});
  const auto record = load_record(assay.file("run/record.json"));
  EXPECT_TRUE(record) << finished.err;
  return record ? record->problems.at(0).kernels.at(0) : KernelOutcome();
}

// Where it crashed; empty if it did not.
std::string stage_of_crash(const KernelOutcome& outcome) {
  const auto* crash = std::get_if<ending::Crash>(&outcome.ending);
  return crash == nullptr ? std::string() : crash->stage;
}

TEST(BudgetTest, ARaceMakesNoRoundThatBeginsAfterItsBudget) {
  int proof = 4;  // Calls of a proof: as few as let it reach the race.
  while (proof < 60 && stage_of_crash(outcome_of(proof, "1ms")) == "verify") ++proof;
  ASSERT_EQ(stage_of_crash(outcome_of(proof, "1ms")), "race");

  // One call more is one round, the first look: it still says how fast the kernel is.
  const KernelOutcome spent = outcome_of(proof + 1, "1ms");
  EXPECT_TRUE(is_timed(spent.ending)) << ending_sentence(spent.ending);
  ASSERT_TRUE(spent.race);
  EXPECT_EQ(spent.race->rounds, 1);
  EXPECT_GT(spent.race->median_us, 3000);
  EXPECT_EQ(stage_of_crash(outcome_of(proof + 1, "60s")), "race");
}

}  // namespace
}  // namespace assay
