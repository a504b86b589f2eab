#include "assay/watch/timed_outputs.h"

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "assay/measure/output_digest.h"
#include "assay/process/set_turns.h"

namespace assay::sweep {
namespace {

using Bytes = std::vector<std::byte>;

constexpr size_t kBytes = 256;
constexpr size_t kPlans = 8;
const std::vector<uint64_t> kPlaces = {0x1000, 0x2000, 0x3000, 0x4000};

// The memory of a process that holds outputs at kPlaces.
class FakeMemory final : public OutputMemory {
 public:
  FakeMemory() {
    for (const uint64_t place : kPlaces) outputs[place] = Bytes(kBytes);
  }
  Result<Bytes> read(size_t, uint64_t address, size_t offset, size_t bytes) override {
    const auto found = outputs.find(address);
    if (found == outputs.end() || offset + bytes > found->second.size())
      return fail(ErrorCode::machine, "nothing is mapped there");
    const auto begin = found->second.begin() + static_cast<std::ptrdiff_t>(offset);
    return Bytes(begin, begin + static_cast<std::ptrdiff_t>(bytes));
  }
  std::map<uint64_t, Bytes> outputs;
};

TimedOutputs outputs_at_places() { return *TimedOutputs::at(kPlaces, kBytes, kPlans); }

Bytes bytes_told(std::span<const std::byte> told) { return {told.begin(), told.end()}; }

// Launches of these plans whose inputs are made from `answer`.
std::vector<ToldLaunch> launches_of(const std::vector<uint64_t>& plans, uint64_t answer) {
  std::vector<ToldLaunch> launches;
  for (const uint64_t plan : plans)
    launches.push_back({plan, seed_of_launch(answer, launches.size())});
  return launches;
}

// A stretch whose outputs are what `memory` holds when it is told.
BurstMoments::Stretch stretch(const std::vector<uint64_t>& plans, FakeMemory& memory,
                              uint64_t answer = 11) {
  const auto launches = launches_of(plans, answer);
  ToldDigest told{measure::draw_unknown(), 0};
  measure::OutputDigest digest(told.drawn);
  measure::for_each_part(told.drawn, launches.size(), kBytes, [&](const measure::OutputPart& part) {
    const uint64_t place = kPlaces[launches[part.output].plan % kPlaces.size()];
    digest.add(std::span<const std::byte>(memory.outputs[place]).subspan(part.offset, part.bytes));
  });
  told.digest = digest.value();
  BurstMoments::Stretch made;
  made.ready.answer = answer;
  made.started.pulse.told = bytes_told(as_told(launches));
  made.looked = bytes_told(as_told(told));
  return made;
}

TEST(TimedOutputs, PlacesThatOverlapOrAreNoneAreRefused) {
  EXPECT_TRUE(TimedOutputs::at(kPlaces, kBytes, kPlans));
  EXPECT_TRUE(TimedOutputs::at({0x1000, 0x1000 + kBytes}, kBytes, kPlans));
  EXPECT_FALSE(TimedOutputs::at({0x1000, 0x1000 + kBytes - 1}, kBytes, kPlans));
  EXPECT_FALSE(TimedOutputs::at({0x1000, 0x1000}, kBytes, kPlans));
  EXPECT_FALSE(TimedOutputs::at({}, kBytes, kPlans));
  EXPECT_FALSE(TimedOutputs::at({0, 0x1000}, kBytes, kPlans));
  EXPECT_FALSE(TimedOutputs::at({UINT64_MAX - 1}, kBytes, kPlans));
}

TEST(TimedOutputs, KnowsWhichLaunchesTheLastBurstHad) {
  FakeMemory memory;
  TimedOutputs outputs = outputs_at_places();
  ASSERT_TRUE(outputs.hear({{stretch({0, 5}, memory)}}, 2));
  ASSERT_TRUE(outputs.hear({{stretch({2}, memory, 12), stretch({3}, memory, 13)}}, 2));
  const auto launches = outputs.launches();
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_EQ(launches[1].plan, 3U);
  EXPECT_EQ(launches[1].seed, seed_of_launch(13, 0));
  outputs.forget();
  EXPECT_TRUE(outputs.launches().empty());
}

TEST(TimedOutputs, TellsOutputsThatChangedBehindTheClock) {
  FakeMemory memory;
  TimedOutputs outputs = outputs_at_places();
  ASSERT_TRUE(outputs.hear({{stretch({0, 1, 6}, memory)}}, 3));
  EXPECT_FALSE(*outputs.changed(memory));
  memory.outputs[kPlaces[3]][0] = std::byte{1};  // Of a launch that was not in that burst.
  EXPECT_FALSE(*outputs.changed(memory));
  memory.outputs[kPlaces[2]][kBytes - 1] = std::byte{1};
  EXPECT_TRUE(*outputs.changed(memory));
  memory.outputs.clear();
  EXPECT_FALSE(outputs.changed(memory));
}

TEST(TimedOutputs, WhatNoBurstHasIsRefused) {
  FakeMemory memory;
  const auto hears = [&](const std::vector<BurstMoments::Stretch>& told, int launches) {
    TimedOutputs outputs = outputs_at_places();
    return outputs.hear({told}, launches);
  };
  const auto good = stretch({0, 1}, memory);
  EXPECT_TRUE(hears({good}, 2));
  EXPECT_FALSE(hears({good}, 3)) << "other launches than it had";
  EXPECT_FALSE(hears({stretch({kPlans}, memory)}, 1)) << "a plan that does not exist";
  EXPECT_FALSE(hears({stretch({0, 4}, memory)}, 2)) << "two into one output";
  auto other = good;
  other.ready.answer = 12;
  EXPECT_FALSE(hears({other}, 2)) << "inputs that were not made from the answer";
  other = good;
  other.started.pulse.told = bytes_told(
      as_told(std::vector<ToldLaunch>{{0, seed_of_launch(11, 0)}, {1, seed_of_launch(11, 0)}}));
  EXPECT_FALSE(hears({other}, 2)) << "the same numbers twice";
  auto cut = good;
  cut.started.pulse.told.pop_back();
  EXPECT_FALSE(hears({cut}, 2)) << "half a launch";
  cut = good;
  cut.looked.clear();
  EXPECT_FALSE(hears({cut}, 2)) << "outputs that nobody looked at";
  cut = good;
  cut.started.pulse.told.clear();
  EXPECT_FALSE(hears({cut}, 0)) << "no launch";
}

TEST(TimedOutputs, TheLaunchThatLeadsInIsNoneOfTheBurst) {
  FakeMemory memory;
  TimedOutputs outputs = outputs_at_places();
  auto told = stretch({1}, memory);
  const Bytes timed = told.started.pulse.told;
  told.started.pulse.told = bytes_told(as_told(std::vector<ToldLaunch>{{0, kUntimed}}));
  told.started.pulse.told.insert(told.started.pulse.told.end(), timed.begin(), timed.end());
  ASSERT_TRUE(outputs.hear({{told}}, 1));
  EXPECT_EQ(outputs.launches().size(), 1U);
  EXPECT_EQ(outputs.plans_used(), (std::vector<uint64_t>{0, 1}));
  EXPECT_FALSE(*outputs.changed(memory));
  // It comes first or not at all.
  EXPECT_FALSE(outputs_at_places().hear({{stretch({0}, memory), told}}, 2));
}

// As SetTurns has them, whatever the numbers of sets, outputs and launches.
TEST(PlanTurns, TurnsOfOursPass) {
  for (const size_t plans : {4U, 6U, 16U, 32U, 48U, 64U})
    for (size_t outputs = 2; outputs <= plans; ++outputs) {
      if (plans % outputs != 0) continue;
      for (const size_t wanted : {size_t{1}, size_t{2}, plans / 2, plans}) {
        SetTurns turns(plans);
        PlanTurns watched(plans);
        for (uint64_t burst = 1; burst < 200; ++burst) {
          const auto chosen = turns.choose(wanted, outputs, burst);
          ASSERT_TRUE(watched.take({chosen.begin(), chosen.end()}))
              << plans << " " << outputs << " " << wanted << " " << burst;
        }
      }
    }
}

// Kernels of one race have bursts of other lengths each.
TEST(PlanTurns, TurnsOfOursPassWhateverBurstsAreBetween) {
  for (const size_t plans : {4U, 6U, 16U, 32U, 48U, 64U})
    for (size_t outputs = 2; outputs <= plans; ++outputs) {
      if (plans % outputs != 0) continue;
      SetTurns turns(plans);
      PlanTurns watched(plans);
      std::mt19937_64 random(plans * 100 + outputs);
      for (uint64_t burst = 1; burst < 2000; ++burst) {
        const auto chosen = turns.choose(1 + random() % plans, outputs, burst);
        ASSERT_FALSE(chosen.empty());
        ASSERT_TRUE(watched.take({chosen.begin(), chosen.end()}))
            << plans << " " << outputs << " " << burst;
      }
    }
}

TEST(PlanTurns, WhoGoesRoundAFewSetsIsSeen) {
  for (const uint64_t few : {1U, 2U, 4U, 16U}) {
    PlanTurns turns(48);
    bool passed = true;
    for (uint64_t burst = 0; burst < 100; ++burst) passed = passed && turns.take({burst % few});
    EXPECT_FALSE(passed) << few;
  }
  PlanTurns turns(4);
  EXPECT_FALSE(turns.take({4}));
}

}  // namespace
}  // namespace assay::sweep
