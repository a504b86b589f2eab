#include "assay/sweep/stages/confirm.h"

#include <gmock/gmock.h>

#include "assay/sweep/stages/build.h"
#include "assay/sweep/stages/prove.h"
#include "assay/sweep/stages/race.h"
#include "assay/sweep/testing/stage_test.h"

namespace assay::sweep {
namespace {

using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class ConfirmTest : public testing::StageTest {
 protected:
  void SetUp() override {
    StageTest::SetUp();
    request_.effort.processes = 2;
    children_.kernels["usual"].launch_ns = 1.2e5;
    children_.kernels["fast"].launch_ns = 1e5;
    field_ =
        find({{.name = "usual", .is_default = true}, {.name = "fast", .role = ProviderRole::ours}})
            .value();
    ASSERT_TRUE(prove(station(), field_, [&] { return build(station(), field_); }));
    auto raced = race(station(), field_, 60);
    ASSERT_TRUE(raced) << raced.error().message;
    result_ = std::move(*raced);
    ASSERT_THAT(result_.finalists, SizeIs(2));
  }

  // The processes of a confirmation, one after the other; `between` comes ahead of each.
  Result<Confirmation> confirm(const std::function<void(int process)>& between = {}) {
    Confirming confirming(station(), field_, result_);
    ASSAY_TRY(confirming.begin());
    for (int process = 0; process < request_.effort.processes; ++process) {
      if (between) between(process);
      ASSAY_TRY(const auto visit, confirming.visit(0));
      const Instances::Derivation inputs[] = {{&visit->instances, &confirming.base()}};
      ASSAY_TRY(Instances::derive(crew(), inputs));
      ASSAY_TRY(confirming.set_up(*visit));
      if (process == 0) confirming.plan(kBudgetSeconds, 0);
      ASSAY_TRY(confirming.time(*visit));
      crew().dismiss_confirmers();
    }
    return confirming.end();
  }

  static constexpr double kBudgetSeconds = 0.05;
  Field field_;
  RaceResult result_;
};

TEST_F(ConfirmTest, EachProcessIsFreshProvesAgainAndTimesAllFinalists) {
  const size_t commitments = children_.count_asked("commit"), begun = children_.count_asked("init"),
               proofs = children_.count_asked("prove");
  const auto confirmation = confirm();
  ASSERT_TRUE(confirmation) << confirmation.error().message;
  EXPECT_EQ(confirmation->leader, named(field_, "fast").outcome.id);
  ASSERT_THAT(confirmation->processes, SizeIs(2));
  for (const ProcessSamples& process : confirmation->processes) {
    ASSERT_THAT(process.kernels, SizeIs(2));
    for (const KernelSamples& kernel : process.kernels) {
      EXPECT_THAT(kernel.burst_ns, SizeIs(static_cast<size_t>(confirmation->rounds)));
      EXPECT_THAT(kernel.burst_ns, Each(Gt(0)));
    }
  }
  // One for the inputs that the others derive from.
  EXPECT_EQ(children_.count_asked("commit"), commitments + 3);
  EXPECT_EQ(children_.count_asked("derive"), 2u);
  EXPECT_EQ(children_.count_asked("reveal"), 2u);
  EXPECT_EQ(children_.count_asked("prove"), proofs + 4) << "of each kernel in each process";
  EXPECT_GE(children_.count_asked("init"), begun + 1) << "no process of the race";
}

TEST_F(ConfirmTest, WhoIsWrongInAFreshProcessEndsAndTheOtherIsTimed) {
  const auto confirmation =
      confirm([&](int process) { children_.kernels["fast"].right = process == 0; });
  ASSERT_TRUE(confirmation) << confirmation.error().message;
  const auto* mismatch = std::get_if<ending::Mismatch>(&named(field_, "fast").outcome.ending);
  ASSERT_NE(mismatch, nullptr);
  EXPECT_THAT(mismatch->message, HasSubstr("out[0] is wrong"));
  ASSERT_TRUE(named(field_, "usual").alive())
      << ending_sentence(named(field_, "usual").outcome.ending);
  const ProcessSamples& last = confirmation->processes.back();
  for (const KernelSamples& kernel : last.kernels) {
    const bool timed = kernel.id == named(field_, "usual").outcome.id;
    ASSERT_FALSE(kernel.burst_ns.empty());
    EXPECT_EQ(kernel.burst_ns.front() > 0, timed) << kernel.id;
  }
}

}  // namespace
}  // namespace assay::sweep
