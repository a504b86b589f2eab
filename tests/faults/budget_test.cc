// A kernel so slow that one burst of it spends the budget.

#include <string>

#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "testing/assay_program.h"

namespace assay {
namespace {

using testing::AssayProgram;

// Right, and takes 3 ms a call, so that each burst is of one launch.
constexpr const char* kSlow =
    R"(// assay: {entry: slow, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
#include <time.h>
static long now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}
void slow(const float* a, const float* b, float* out, long m, long n, long k) {
  const long until = now() + 3000000;
  for (long i = 0; i < m; ++i)
    for (long j = 0; j < n; ++j) {
      out[i * n + j] = 0;
      for (long p = 0; p < k; ++p) out[i * n + j] += a[i * k + p] * b[p * n + j];
    }
  while (now() < until) {}
}
)";

// What `assay run` says of it.
KernelOutcome outcome_with(const std::string& budget) {
  const AssayProgram assay;
  EXPECT_TRUE(write_file_atomic(assay.file("slow.cc"), kSlow));
  const auto finished = assay.run({"run", "slow", "--kernels", "slow.cc", "--shape",
                                   "m=4,n=8,k=8,dtype=f32,layout=tt", "--threads", "1", "--budget",
                                   budget, "--output-dir", "run"});
  const auto record = load_record(assay.file("run/record.json"));
  EXPECT_TRUE(record) << finished.err;
  return record ? record->problems.at(0).kernels.at(0) : KernelOutcome();
}

TEST(BudgetTest, ARaceMakesNoRoundThatBeginsAfterItsBudget) {
  // The first look is the only round: it still says how fast the kernel is.
  const KernelOutcome spent = outcome_with("1ms");
  EXPECT_TRUE(is_timed(spent.ending)) << ending_sentence(spent.ending);
  ASSERT_TRUE(spent.race);
  EXPECT_EQ(spent.race->rounds, 1);
  EXPECT_GT(spent.race->median_us, 3000);

  const KernelOutcome rich = outcome_with("60s");
  ASSERT_TRUE(rich.race);
  EXPECT_GT(rich.race->rounds, 1);
}

}  // namespace
}  // namespace assay
