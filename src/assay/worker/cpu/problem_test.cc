#include "assay/worker/cpu/problem.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <iterator>
#include <mutex>
#include <poll.h>
#include <thread>

#include <gtest/gtest.h>

#include "assay/device/cpu/cpu_device.h"
#include "assay/kernel/testing/toy_family.h"
#include "assay/op/gemm/gemm.h"
#include "assay/op/rmsnorm/rmsnorm.h"
#include "assay/process/told_launches.h"

namespace assay::sweep {
namespace {

int do_nothing(const void*, void* const*) { return 0; }

// Tells by out what it found in residual, and leaves zeros there.
constexpr int64_t kRows = 2, kColumns = 16;
int take_residual(const void*, void* const* data) {
  constexpr size_t kPlainBytes = sizeof(float) * kRows * kColumns;
  std::memcpy(data[rmsnorm::kOut], data[rmsnorm::kResidual], kPlainBytes);
  std::memset(data[rmsnorm::kResidual], 0, kPlainBytes);
  return 0;
}
Problem added() {
  return *rmsnorm::problem({.m = kRows, .n = kColumns, .residual = DType::f32, .constant = {"w"}});
}
Kernel taker() {
  ProblemRule rule{.operation = "rmsnorm"};
  for (const char* role : {"x", "w", "out", "residual"})
    rule.operands.push_back({.role = role, .dtypes = {DType::f32}});
  auto family =
      std::make_shared<assay::testing::ToyFamily>("taker", assay::testing::toy_groups(rule));
  family->bind = [](const Binding&, std::vector<Step>& steps) -> Status {
    steps.push_back(HostStep{take_residual, std::make_shared<int>(0)});
    return {};
  };
  Catalog catalog;
  catalog.add("toys", ProviderRole::user, family);
  auto found = catalog.get_kernels(added());
  EXPECT_TRUE(found && !found->kernels.empty());
  return found->kernels.front();
}
// The first output of all that are in the file, and the one behind it.
std::pair<std::vector<std::byte>, std::vector<std::byte>> outputs_of(const UniqueFd& file) {
  const auto mapped = MappedFile::map_read_only(file.get());
  EXPECT_TRUE(mapped);
  const auto outputs = OutputPlaces::of(added()).split(mapped->bytes());
  return {{outputs[0].begin(), outputs[0].end()}, {outputs[1].begin(), outputs[1].end()}};
}

// A problem whose kernel does nothing, and whoever stands outside: answers each question with
// another number, and hears what is told.
class WorkerProblemTest : public ::testing::TestWithParam<measure::Cache> {
 protected:
  void SetUp() override {
    auto device = cpu::open({.threads = 1, .pin = false});
    ASSERT_TRUE(device);
    device_ = std::move(*device);
    auto pulses = PulseReceiver::create_pair(), questions = PulseReceiver::create_pair();
    ASSERT_TRUE(pulses && questions);
    pulses_.emplace(std::move(*pulses));
    questions_.emplace(std::move(*questions));
    outside_ = std::thread([this] { stand_outside(); });
  }

  void TearDown() override {
    done_ = true;
    if (outside_.joinable()) outside_.join();
  }

  void stand_outside() {
    while (!done_) {
      pollfd ends[] = {{pulses_->first.fd(), POLLIN, 0}, {questions_->first.fd(), POLLIN, 0}};
      ::poll(ends, 2, 10);
      while (questions_->first.next()) questions_->first.answer(++answered_);
      const std::lock_guard lock(mutex_);
      while (auto pulse = pulses_->first.next())
        if (pulse->what == 's') starts_.push_back(std::move(pulse->told));
    }
  }

  Result<std::unique_ptr<WorkerProblem>> make() {
    auto problem = gemm::problem({.m = 2, .n = 16, .k = 16, .constant = {"b"}});
    if (!problem) return fail(problem.error());
    ASSAY_TRY(auto made,
              WorkerProblem::create(*problem, *device_, 1, {}, 5,
                                    PulseSender(pulses_->second.get(), questions_->second.get())));
    ASSAY_TRY(made->make_rotation({.cache = GetParam()}, 7));
    return made;
  }

  // How many times the start of a burst is told: warm launches have stretches of their own.
  static int stretches(int launches) { return GetParam() == measure::Cache::warm ? launches : 1; }

  Kernel kernel() {
    auto family = std::make_shared<assay::testing::ToyFamily>("toy", assay::testing::toy_groups());
    family->bind = [](const Binding&, std::vector<Step>& steps) -> Status {
      steps.push_back(HostStep{do_nothing, std::make_shared<int>(0)});
      return {};
    };
    Catalog catalog;
    catalog.add("toys", ProviderRole::user, family);
    auto found = catalog.get_kernels(*gemm::problem({.m = 2, .n = 16, .k = 16, .constant = {"b"}}));
    EXPECT_TRUE(found && !found->kernels.empty());
    return found->kernels.front();
  }

  // What is told at the start of the next burst.
  std::vector<ToldLaunch> told() {
    while (true) {
      {
        const std::lock_guard lock(mutex_);
        if (!starts_.empty()) {
          const auto told = read_told<ToldLaunch>(starts_.front());
          starts_.pop_front();
          EXPECT_TRUE(told);
          return told.value_or(std::vector<ToldLaunch>());
        }
      }
      std::this_thread::yield();
    }
  }

  std::unique_ptr<Device> device_;
  std::optional<std::pair<PulseReceiver, UniqueFd>> pulses_, questions_;
  std::atomic<bool> done_ = false;
  uint64_t answered_ = 0;
  std::mutex mutex_;
  std::deque<std::vector<std::byte>> starts_;
  std::thread outside_;
};

// Whoever stands outside takes a set that comes too soon for a choice of the kernel's, so bursts of
// any length use sets in the order in which they were chosen: since each was used last, half of the
// others were.
TEST_P(WorkerProblemTest, ASetIsUsedAgainWhenHalfOfTheOthersWere) {
  auto problem = make();
  ASSERT_TRUE(problem) << problem.error().message;
  const auto opened = (*problem)->open(kernel(), {});
  ASSERT_TRUE(opened) << opened.error().message;
  const auto sets = static_cast<size_t>((*problem)->sets());
  std::vector<size_t> last(sets, 0);  // After how many launches in all each was used; 0: never.
  size_t time = 0;
  for (size_t burst = 0; burst < 200; ++burst) {
    const int wanted = 1 + static_cast<int>(burst * 7 % (sets / 2 + 2));
    const auto timed = (*problem)->burst(opened->handle, wanted, burst);
    ASSERT_TRUE(timed) << timed.error().message;
    std::vector<ToldLaunch> launches;
    for (int stretch = 0; stretch < stretches(timed->launches); ++stretch)
      std::ranges::copy(told(), std::back_inserter(launches));
    EXPECT_GE(std::ssize(launches), timed->launches);
    for (const ToldLaunch& launch : launches) {
      ASSERT_LT(launch.plan, sets);
      const size_t used = last[launch.plan];
      const auto newer = std::ranges::count_if(last, [&](size_t other) { return other > used; });
      EXPECT_TRUE(used == 0 || static_cast<size_t>(newer) + 1 >= sets / 2) << "burst " << burst;
    }
    for (const ToldLaunch& launch : launches) last[launch.plan] = ++time;
  }
  EXPECT_GT(std::ranges::count_if(last, [](size_t used) { return used > 0; }),
            static_cast<std::ptrdiff_t>(sets / 2));
}

// Whatever a launch leaves there, the next one finds numbers of its own.
TEST_P(WorkerProblemTest, WhatIsReadAndWrittenIsNewAtEachTimedLaunch) {
  const Problem problem = added();
  auto made = WorkerProblem::create(problem, *device_, 1, {}, 5,
                                    PulseSender(pulses_->second.get(), questions_->second.get()));
  ASSERT_TRUE(made) << made.error().message;
  constexpr uint64_t kKey = 7;
  ASSERT_TRUE((*made)->make_rotation({.cache = GetParam()}, kKey));
  const auto opened = (*made)->open(taker(), {});
  ASSERT_TRUE(opened) << opened.error().message;
  size_t looked_at = 0;
  for (int burst = 0; burst < 20; ++burst) {
    const auto timed = (*made)->burst(opened->handle, 2, static_cast<uint64_t>(burst));
    ASSERT_TRUE(timed) << timed.error().message;
    for (int stretch = 0; stretch < stretches(timed->launches); ++stretch) {
      for (const ToldLaunch& launch : told()) {
        if (launch.seed == kUntimed) continue;
        const size_t set = GetParam() == measure::Cache::warm ? 0 : launch.plan;
        std::vector<std::byte> expected(sizeof(float) * kRows * kColumns);
        renew(rmsnorm::operation().renewal(problem, rmsnorm::kResidual,
                                           {.set = set_seed(kKey, set), .launch = launch.seed}),
              expected);
        const auto output =
            (*made)->timed_output(opened->handle, launch.plan % opened->outputs.size());
        ASSERT_TRUE(output);
        const auto [out, residual] = outputs_of(output->output.file);
        EXPECT_EQ(out, expected) << "burst " << burst << ", plan " << launch.plan;
        EXPECT_EQ(residual, std::vector<std::byte>(expected.size()));
        ++looked_at;
      }
    }
  }
  EXPECT_GE(looked_at, 20U);
  EXPECT_TRUE((*made)->inputs_intact());
}

TEST_P(WorkerProblemTest, EachLaunchOfAProofFindsWhatIsReadAndWritten) {
  const Problem problem = added();
  const auto instance = rmsnorm::operation().make_instance(problem, InputKind::uniform, 1);
  ASSERT_TRUE(instance);
  std::vector<std::vector<MappedFile>> instances(1);
  for (size_t i = 0; i < problem.operands().size(); ++i) {
    MappedFile& file = instances[0].emplace_back();
    if (problem.operands()[i].access == Access::write) continue;
    auto mapped = MappedFile::map_read_only((*instance)->input_file(i)->get());
    ASSERT_TRUE(mapped);
    file = std::move(*mapped);
  }
  auto made = WorkerProblem::create(problem, *device_, 1, std::move(instances), 5,
                                    PulseSender(pulses_->second.get(), questions_->second.get()));
  ASSERT_TRUE(made) << made.error().message;
  const auto proven = (*made)->prove(taker(), {}, 0, true);
  ASSERT_TRUE(proven) << proven.error().message;
  EXPECT_EQ(proven->launches, 2);
  EXPECT_TRUE(proven->repeatable);
  EXPECT_FALSE(proven->inputs_changed);
  EXPECT_EQ(proven->trespass, "");
  const auto [out, residual] = outputs_of(proven->output.file);
  EXPECT_TRUE(std::ranges::equal(out, (*instance)->input(rmsnorm::kResidual)));
}

INSTANTIATE_TEST_SUITE_P(Caches, WorkerProblemTest,
                         ::testing::Values(measure::Cache::cold_weights, measure::Cache::cold,
                                           measure::Cache::warm),
                         [](const auto& test) {
                           return std::string(measure::to_string(test.param));
                         });

}  // namespace
}  // namespace assay::sweep
