#include "assay/measure/burst.h"

#include <array>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "assay/device/cpu/cpu_device.h"
#include "assay/kernel/testing/toy_family.h"
#include "assay/measure/ceilings.h"

namespace assay::measure {
namespace {

int count_up(const void* state, void* const*) {
  ++**static_cast<int* const*>(state);
  return 0;
}
int refuse(const void*, void* const*) { return 3; }

// Stretches of plans, in order.
class Listed final : public Launches {
 public:
  explicit Listed(std::vector<std::vector<Plan*>> stretches) : stretches_(std::move(stretches)) {}
  Result<bool> make_cold() override {
    events.push_back("cold");
    next_ = 0;
    return at_++ < stretches_.size();
  }
  Status make_ready(uint64_t key) override {
    events.push_back("ready");
    keys.push_back(key);
    return {};
  }
  Plan* draw() override {
    const auto& stretch = stretches_[at_ - 1];
    return next_ < stretch.size() ? stretch[next_++] : nullptr;
  }
  std::span<const std::byte> told_at_start() override {
    return std::as_bytes(std::span(&start, 1));
  }
  std::span<const std::byte> told_at_stop() override {
    events.push_back("stopped");
    return std::as_bytes(std::span(&stop, 1));
  }
  uint64_t start = 17, stop = 18;

  std::vector<std::string> events;
  std::vector<uint64_t> keys;

 private:
  std::vector<std::vector<Plan*>> stretches_;
  size_t at_ = 0, next_ = 0;
};

class BurstTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto device = cpu::open({.threads = 1});
    ASSERT_TRUE(device);
    device_ = std::move(*device);
    auto stream = device_->make_stream();
    ASSERT_TRUE(stream);
    stream_ = std::move(*stream);
  }

  Plan plan(HostFunction function) {
    auto family = std::make_shared<assay::testing::ToyFamily>("toy", assay::testing::toy_groups());
    family->bind = [this, function](const Binding&, std::vector<Step>& steps) -> Status {
      steps.push_back(HostStep{function, std::make_shared<int*>(&launches_)});
      return {};
    };
    Catalog catalog;
    catalog.add("toys", ProviderRole::user, family);
    gemm::Shape shape;
    shape.m = shape.n = shape.k = 4;
    auto problem = gemm::problem(shape);
    EXPECT_TRUE(problem);
    auto found = catalog.get_kernels(*problem);
    EXPECT_TRUE(found && !found->kernels.empty());
    const Arguments arguments{*problem, {memory_.data(), memory_.data(), memory_.data()}};
    const Artifact artifact;
    auto made = found->kernels.front().plan(
        {.arguments = arguments, .artifact = artifact, .device = *device_});
    EXPECT_TRUE(made) << made.error().message;
    return std::move(*made);
  }

  alignas(64) std::array<float, 64> memory_{};
  int launches_ = 0;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
  SchedulerWatch watch_;
};

TEST_F(BurstTest, LaunchesEveryPlanOnceAndTakesTime) {
  Plan first = plan(count_up), second = plan(count_up);
  Listed launches({{&first, &second, &first}});
  const auto burst = time_burst(launches, *stream_, watch_);
  ASSERT_TRUE(burst) << burst.error().message;
  EXPECT_EQ(launches_, 3);
  EXPECT_EQ(burst->launches, 3);
  EXPECT_GT(burst->ns, 0);
}

TEST_F(BurstTest, WhatALaunchWillBeIsToldAheadOfItsClockAndWhatItLeftBehindIt) {
  auto pair = PulseReceiver::create_pair(), questions = PulseReceiver::create_pair();
  ASSERT_TRUE(pair && questions);
  Plan only = plan(count_up);
  Listed launches({{&only}});
  std::vector<Pulse> told_of, asked;
  std::thread outside([&] {
    while (asked.size() < 2)
      if (auto question = questions->first.next()) {
        asked.push_back(std::move(*question));
        questions->first.answer(19);
      }
  });
  const auto burst = time_burst(launches, *stream_, watch_, {},
                                PulseSender(pair->second.get(), questions->second.get()));
  outside.join();
  while (auto pulse = pair->first.next()) told_of.push_back(std::move(*pulse));
  ASSERT_TRUE(burst) << burst.error().message;
  EXPECT_EQ(launches.keys, std::vector<uint64_t>{19});
  const auto told = [](const uint64_t& word) {
    const auto bytes = std::as_bytes(std::span(&word, 1));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  ASSERT_EQ(told_of.size(), 2U);
  EXPECT_EQ(told_of[0].what, 's');
  EXPECT_EQ(told_of[0].told, told(launches.start));
  EXPECT_EQ(told_of[1].what, 'e');
  EXPECT_EQ(asked[0].what, 'r');
  EXPECT_EQ(asked[1].what, 'l');
  EXPECT_EQ(asked[1].told, told(launches.stop));
}

TEST_F(BurstTest, IsTheSumOfItsStretches) {
  Plan first = plan(count_up), second = plan(count_up);
  Listed launches({{&first}, {&second, &first}, {&second}});
  const auto burst = time_burst(launches, *stream_, watch_);
  ASSERT_TRUE(burst) << burst.error().message;
  EXPECT_EQ(burst->launches, 4);
  EXPECT_EQ(launches.events,
            (std::vector<std::string>{"cold", "ready", "stopped", "cold", "ready", "stopped",
                                      "cold", "ready", "stopped", "cold"}));
}

TEST_F(BurstTest, AFailingLaunchEndsTheBurst) {
  Plan good = plan(count_up), bad = plan(refuse);
  Listed launches({{&good, &bad, &good}, {&good}});
  EXPECT_FALSE(time_burst(launches, *stream_, watch_));
  EXPECT_EQ(launches_, 1);
}

TEST(LaunchesPerBurst, LastTwentyMicrosecondsAndAThousandReadings) {
  TimerFacts timer;
  timer.read_ns = 30;
  for (const double launch_ns : {10.0, 999.0, 7'000.0, 29'999.0, 1e6}) {
    const int launches = launches_per_burst(launch_ns, timer, 1, 1 << 20);
    EXPECT_GE(launches * launch_ns, 30'000.0);
    if (launches > 1) {
      EXPECT_LT((launches - 1) * launch_ns, 30'000.0) << "no more than it takes";
    }
  }
  EXPECT_EQ(launches_per_burst(10, timer, 1, 16), 16);
  EXPECT_EQ(launches_per_burst(1e9, timer, 1, 16), 1);
  EXPECT_EQ(launches_per_burst(0, timer, 1, 0), 1);
  EXPECT_EQ(launches_per_burst(100e3, timer, 1, 16), 1);
  EXPECT_EQ(launches_per_burst(100e3, timer, 2, 16), 10);
}

TEST(Timer, ReadsInFiniteTime) {
  const TimerFacts facts = measure_timer();
  EXPECT_GT(facts.read_ns, 0);
  EXPECT_GT(facts.tick_ns, 0);
}

TEST(PhysicsFloor, IsUnderWhatThisMachineReaches) {
  for (const auto& [ceiling, largest] : measure_ceilings(1, size_t{1} << 20, 0.02)) {
    const bool bytes = ceiling.unit == "byte/s";
    const DType dtype = ceiling.name == "flops_f64"    ? DType::f64
                        : ceiling.name == "flops_bf16" ? DType::bf16
                                                       : DType::f32;
    const double floor =
        physics_floor_seconds(bytes ? 0 : ceiling.value, bytes ? ceiling.value : 0, dtype, 1);
    EXPECT_LT(floor, 1.0) << ceiling.name << ": one second's work is not impossible in a second";
    EXPECT_GT(floor, 0) << ceiling.name;
  }
}

// A launch ahead of the burst may use threads: they have nothing to do with what comes.
class LedIn final : public Launches {
 public:
  LedIn(Plan& plan, bool works_when_ready) : plan_(plan), works_when_ready_(works_when_ready) {}
  Result<bool> lead_in() override {
    work();
    return true;
  }
  Result<bool> make_cold() override { return std::exchange(left_, false); }
  Status make_ready(uint64_t) override {
    if (works_when_ready_) work();
    return {};
  }
  Plan* draw() override { return std::exchange(next_, nullptr); }

 private:
  static void work() {
    std::thread([] {
      volatile uint64_t sum = 0;
      for (int i = 0; i < 20'000'000; ++i) sum = sum + 1;
    }).join();
  }
  Plan& plan_;
  Plan* next_ = &plan_;
  bool works_when_ready_, left_ = true;
};

TEST_F(BurstTest, WorkOfALaunchAheadOfItIsNotAheadOfItsClock) {
  Plan counts = plan(count_up);
  SchedulerWatch watch;
  for (const bool works_when_ready : {false, true}) {
    LedIn launches(counts, works_when_ready);
    const auto burst = time_burst(launches, *stream_, watch, {.threads = 1}, PulseSender());
    ASSERT_TRUE(burst) << burst.error().message;
    EXPECT_EQ(burst->others_ahead_ns > 2'000'000, works_when_ready) << burst->others_ahead_ns;
  }
}

}  // namespace
}  // namespace assay::measure
