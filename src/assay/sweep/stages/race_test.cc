#include "assay/sweep/stages/race.h"

#include <gmock/gmock.h>

#include "assay/base/clock.h"
#include "assay/sweep/stages/build.h"
#include "assay/sweep/stages/count.h"
#include "assay/sweep/stages/prove.h"
#include "assay/sweep/testing/stage_test.h"

namespace assay::sweep {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class RaceStageTest : public testing::StageTest {
 protected:
  // As a proof leaves them.
  Field proven(const std::vector<Row>& rows) {
    auto field = find(rows).value();
    EXPECT_TRUE(prove(station(), field, [&] { return build(station(), field); }));
    return field;
  }
  static constexpr double kBudgetSeconds = 60;
};

TEST_F(RaceStageTest, TheFastestLeadsAndWhoIsHopelessIsDropped) {
  children_.kernels["fast"].launch_ns = 1e5;
  children_.kernels["usual"].launch_ns = 1.2e5;
  children_.kernels["hopeless"].launch_ns = 9e5;
  auto field = proven({{.name = "usual", .is_default = true},
                       {.name = "fast", .role = ProviderRole::ours},
                       {.name = "hopeless", .role = ProviderRole::ours}});
  const auto result = race(station(), field, kBudgetSeconds);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->leader, named(field, "fast").outcome.id);
  EXPECT_EQ(result->candidate, named(field, "fast").outcome.id);
  EXPECT_EQ(result->baseline, named(field, "usual").outcome.id);
  EXPECT_THAT(result->finalists, Contains(named(field, "usual").outcome.id));
  EXPECT_EQ(named(field, "hopeless").outcome.race->reason, "beyond three times the best");
  EXPECT_EQ(result->record.dropped, 1);
  EXPECT_NEAR(named(field, "usual").outcome.race->median_us, 120, 3);
}

TEST_F(RaceStageTest, TheBaselineStaysHoweverSlow) {
  children_.kernels["fast"].launch_ns = 1e5;
  children_.kernels["usual"].launch_ns = 9e5;
  auto field =
      proven({{.name = "usual", .is_default = true}, {.name = "fast", .role = ProviderRole::ours}});
  const auto result = race(station(), field, kBudgetSeconds);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->finalists, Contains(named(field, "usual").outcome.id));
}

// It was right when it was proven.
TEST_F(RaceStageTest, WhoseTimedOutputIsWrongEnds) {
  auto field = proven({{.name = "usual", .is_default = true}, {.name = "cheats"}});
  children_.kernels["cheats"].right = false;
  const auto result = race(station(), field, kBudgetSeconds);
  ASSERT_TRUE(result) << result.error().message;
  const auto* mismatch = std::get_if<ending::Mismatch>(&named(field, "cheats").outcome.ending);
  ASSERT_NE(mismatch, nullptr);
  EXPECT_THAT(mismatch->message, HasSubstr("an output of a timed launch is wrong"));
  EXPECT_THAT(result->finalists, Not(Contains(named(field, "cheats").outcome.id)));
  EXPECT_TRUE(named(field, "usual").alive());
}

// The timer lives in the kernel's process.
TEST_F(RaceStageTest, TimesThatDoNotFitIntoThePastAreNone) {
  auto field = proven({{"only"}});
  children_.on<process::Round>([](const process::Round& asked) {
    process::Round::Answer answer;
    for (const auto& burst : asked.bursts)
      answer.bursts.push_back(
          {.ns = 3600 * kNsPerSecond, .clean = true, .launches = burst.launches});
    return answer;
  });
  ASSERT_TRUE(race(station(), field, kBudgetSeconds));
  const auto* violation = std::get_if<ending::Violation>(&named(field, "only").outcome.ending);
  ASSERT_NE(violation, nullptr);
  EXPECT_EQ(violation->code, "clock");
}

TEST_F(RaceStageTest, MoreLaunchesThanWereAskedForAreALie) {
  auto field = proven({{"only"}});
  children_.on<process::Round>([](const process::Round& asked) {
    process::Round::Answer answer;
    for (const auto& burst : asked.bursts)
      answer.bursts.push_back({.ns = 1, .clean = true, .launches = burst.launches + 1});
    return answer;
  });
  ASSERT_TRUE(race(station(), field, kBudgetSeconds));
  const auto* violation = std::get_if<ending::Violation>(&named(field, "only").outcome.ending);
  ASSERT_NE(violation, nullptr);
  EXPECT_EQ(violation->code, "protocol");
}

TEST_F(RaceStageTest, AFailedLaunchEndsItsKernelAndTheOthersGoOn) {
  auto field = proven({{.name = "usual", .is_default = true}, {.name = "fails"}});
  // Each first handle that is opened belongs to whichever was opened first: ask by the answer.
  std::map<int, std::string> open;
  children_.on<process::Open>([&](const process::Open& asked) {
    const int handle = static_cast<int>(open.size());
    open[handle] = KernelMetadata::from_json(asked.kernel.row)->name();
    return process::Open::Answer{.handle = handle};
  });
  children_.on<process::Round>([&](const process::Round& asked) {
    process::Round::Answer answer;
    for (const auto& burst : asked.bursts) {
      if (open.at(burst.handle) == "fails") {
        answer.ended = {process::Round::Answer::End::launch_failed, burst.handle, "status 7"};
        return answer;
      }
      answer.bursts.push_back({.ns = 1, .clean = true, .launches = burst.launches});
    }
    return answer;
  });
  children_.on<process::Collect>([](const process::Collect&) {
    process::Collect::Answer answer{.launch = 1, .output = {.file = 0}};
    answer.files.add(*create_sealed_memfd("output", {}));
    return answer;
  });
  ASSERT_TRUE(race(station(), field, kBudgetSeconds));
  const auto* mismatch = std::get_if<ending::Mismatch>(&named(field, "fails").outcome.ending);
  ASSERT_NE(mismatch, nullptr);
  EXPECT_THAT(mismatch->message, HasSubstr("status 7"));
  EXPECT_TRUE(named(field, "usual").alive());
}

// Each takes 100, and the process may hold 350: the first death is the last one.
TEST_F(RaceStageTest, WhoHasNoRoomIsNotTriedAgainAndStockKernelsOpenFirst) {
  constexpr int64_t kEach = 100, kLimit = 350;
  auto field = proven({{.name = "usual", .is_default = true, .prepares = true},
                       {.name = "a", .role = ProviderRole::ours, .prepares = true},
                       {.name = "b", .role = ProviderRole::ours, .prepares = true},
                       {.name = "c", .role = ProviderRole::ours, .prepares = true},
                       {.name = "d", .role = ProviderRole::ours, .prepares = true},
                       {.name = "stock", .prepares = true}});
  int deaths = 0;
  children_.on<process::Rotate>([&](const process::Rotate&) {
    children_.resident_bytes = 0;
    return process::Rotate::Answer{.sets = 4};
  });
  std::map<int, std::string> open;
  children_.on<process::Open>([&](const process::Open& asked) -> CallResult<process::Open::Answer> {
    if (children_.resident_bytes + kEach > kLimit) {
      ++deaths;
      return tl::unexpected<CallFailure>(
          Death{.kind = Death::Kind::out_of_memory, .limit_bytes = kLimit});
    }
    children_.resident_bytes += kEach;
    const int handle = static_cast<int>(open.size());
    open[handle] = KernelMetadata::from_json(asked.kernel.row)->name();
    return process::Open::Answer{.handle = handle};
  });
  children_.on<process::Round>([&](const process::Round& asked) {
    process::Round::Answer answer;
    for (const auto& burst : asked.bursts)
      answer.bursts.push_back({.ns = 1, .clean = true, .launches = burst.launches});
    return answer;
  });
  children_.on<process::Collect>([](const process::Collect&) {
    process::Collect::Answer answer{.launch = 1, .output = {.file = 0}};
    answer.files.add(*create_sealed_memfd("output", {}));
    return answer;
  });
  ASSERT_TRUE(race(station(), field, kBudgetSeconds));
  EXPECT_TRUE(named(field, "usual").alive());
  EXPECT_TRUE(named(field, "stock").alive());
  EXPECT_EQ(std::ranges::count_if(field.candidates, &Candidate::alive), 3);
  for (const Candidate& candidate : field.candidates)
    if (!candidate.alive()) {
      const auto* out = std::get_if<ending::OutOfMemory>(&candidate.outcome.ending);
      ASSERT_NE(out, nullptr) << candidate.family << ": "
                              << ending_sentence(candidate.outcome.ending);
      EXPECT_EQ(out->stage, "bind");
      EXPECT_EQ(out->limit_bytes, kLimit);
    }
  EXPECT_LE(deaths, 2);
}

TEST_F(RaceStageTest, CountsThatAreNoneEndNobody) {
  auto field = proven({{"one"}, {"other"}});
  int asked = 0;
  children_.on<process::Count>([&](const process::Count& request) {
    process::Count::Answer answer;
    answer.launches = ++asked == 1 ? 0 : request.launches;  // The first is a lie.
    answer.events = {{"cycles", 1e6, ""}, {"llc_misses", 0, "no such counter"}};
    return answer;
  });
  const auto counted = count_events(
      station(), field, {named(field, "one").outcome.id, named(field, "other").outcome.id});
  ASSERT_TRUE(counted) << counted.error().message;
  EXPECT_EQ(counted->size(), 1u);
  const EventCounts& counts = counted->begin()->second;
  EXPECT_NEAR(counts.per_launch.at("cycles"), 1e6 / counts.launches, 1e-6);
  EXPECT_EQ(counts.unavailable.at("llc_misses"), "no such counter");
  EXPECT_TRUE(named(field, "one").alive() && named(field, "other").alive());
}

}  // namespace
}  // namespace assay::sweep
