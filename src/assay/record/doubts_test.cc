#include "assay/record/doubts.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "assay/record/bounds.h"
#include "assay/record/conclude.h"
#include "assay/record/plain_verdict.h"
#include "assay/record/testing/sample_record.h"

namespace assay {
namespace {

using stats::Word;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::SampleKernel;

const SampleKernel kMine{"mine", "skinny", KernelRole::user, 9, 64};
const SampleKernel kStock{"openblas", "gemm", KernelRole::stock, 10, 0};

RunOptions by_these_rules() {
  RunOptions options;
  options.rules = kRulesOfDoubt;
  return options;
}

class DoubtsTest : public ::testing::Test {
 protected:
  DoubtsTest() : problem_(testing::make_problem("p", {kMine, kStock}, options_)) {
    for (ProcessSamples& process : confirmation().processes) {
      for (KernelSamples& kernel : process.kernels) {
        kernel.outside_ns = kernel.burst_ns;
        for (std::int64_t& ns : kernel.outside_ns) ns += 9'000;
      }
      process.kernels.front().process = 1;
    }
  }

  Confirmation& confirmation() { return problem_.confirmations.front(); }
  // The user's kernel in each process.
  template <class Change>
  void change_mine(Change change) {
    for (ProcessSamples& process : confirmation().processes) change(process.kernels.front());
  }
  stats::Verdict verdict() const {
    return conclude(problem_, problem_.confirmations.front(), options_).headline->verdict;
  }
  std::vector<std::string> codes() const {
    std::vector<std::string> codes;
    for (const Doubt& doubt : find_doubts(problem_, problem_.confirmations.front(), options_))
      codes.push_back(doubt.finding.code);
    return codes;
  }

  RunOptions options_ = by_these_rules();
  ProblemRecord problem_;
};

TEST_F(DoubtsTest, ThereAreNoneOfHonestSamples) {
  EXPECT_THAT(codes(), IsEmpty());
  EXPECT_EQ(verdict().word, Word::faster);
}

TEST_F(DoubtsTest, ClocksThatDisagreeMakeNoClaim) {
  change_mine([](KernelSamples& kernel) {
    for (std::int64_t& ns : kernel.burst_ns) ns /= 2;
  });
  EXPECT_THAT(codes(), Contains("clock"));
  EXPECT_EQ(verdict().word, Word::unsure);
  EXPECT_THAT(verdict().reason, HasSubstr("clock"));
  // Nor is the other said to be slower than it.
  EXPECT_EQ(
      judge_pair(problem_, confirmation(), options_, testing::id_of(kStock), testing::id_of(kMine))
          .word,
      Word::unsure);
}

TEST_F(DoubtsTest, WhatTellingCostsStockKernelsItMayCostOthers) {
  for (ProcessSamples& process : confirmation().processes)
    for (KernelSamples& kernel : process.kernels)
      for (std::int64_t& ns : kernel.outside_ns) ns += 25'000;
  EXPECT_THAT(codes(), IsEmpty());
  change_mine([](KernelSamples& kernel) {
    for (std::int64_t& ns : kernel.outside_ns) ns += 25'000;
  });
  EXPECT_THAT(codes(), Contains("clock"));
}

// A burst of 20 us and a clock that was moved by five: within what the clocks may differ by.
TEST_F(DoubtsTest, WhatOnlyTheInnerClockSaysIsNotSaid) {
  for (ProcessSamples& process : confirmation().processes)
    for (KernelSamples& kernel : process.kernels) {
      kernel.launches = 1;
      const bool mine = &kernel == &process.kernels.front();
      for (std::size_t i = 0; i < kernel.burst_ns.size(); ++i) {
        kernel.burst_ns[i] = (mine ? 16'000 : 20'000) + static_cast<std::int64_t>(i % 7);
        kernel.outside_ns[i] = kernel.burst_ns[i] + 3'000 + (mine ? 5'000 : 0);
      }
    }
  EXPECT_THAT(codes(), IsEmpty());
  EXPECT_EQ(verdict().word, Word::unsure);
  EXPECT_THAT(verdict().reason, HasSubstr("outside"));
  change_mine([](KernelSamples& kernel) {
    for (std::int64_t& ns : kernel.outside_ns) ns -= 5'000;
  });
  EXPECT_EQ(verdict().word, Word::faster);
}

// A burst of 16 us that is ahead of one of 20, or of a longer one, and whose thread worked as much
// more beside it.
TEST_F(DoubtsTest, WhoseThreadWorkedForLongerBesideItsLaunchesIsNotFaster) {
  const auto let_mine_work = [&](std::int64_t ns, std::int64_t others_burst_ns = 20'000) {
    for (ProcessSamples& process : confirmation().processes)
      for (KernelSamples& kernel : process.kernels) {
        kernel.launches = 1;
        const bool mine = &kernel == &process.kernels.front();
        kernel.beside_ns.assign(kernel.burst_ns.size(), mine ? ns : 100'000);
        for (std::size_t i = 0; i < kernel.burst_ns.size(); ++i) {
          kernel.burst_ns[i] = (mine ? 16'000 : others_burst_ns) + static_cast<std::int64_t>(i % 7);
          kernel.outside_ns[i] = kernel.burst_ns[i] + 3'000;
        }
      }
  };
  let_mine_work(111'000);  // 5 us, 0.3 us and 6 us are allowed.
  EXPECT_THAT(codes(), IsEmpty());
  EXPECT_EQ(verdict().word, Word::faster);
  let_mine_work(116'000);
  EXPECT_THAT(codes(), ElementsAre("worked_beside_clock"));
  EXPECT_EQ(verdict().word, Word::unsure);
  EXPECT_THAT(verdict().reason, HasSubstr("beside its launches"));
  // Twice those 16 us do not put it behind 60, but behind 40.
  let_mine_work(116'000, 60'000);
  EXPECT_THAT(codes(), IsEmpty());
  EXPECT_EQ(verdict().word, Word::faster);
  let_mine_work(116'000, 40'000);
  EXPECT_EQ(verdict().word, Word::unsure);
  let_mine_work(116'000);
  // In one process, or in two, that is chance.
  for (std::size_t i = 2; i < confirmation().processes.size(); ++i)
    for (std::int64_t& ns : confirmation().processes[i].kernels.front().beside_ns) ns = 111'000;
  EXPECT_THAT(codes(), IsEmpty());
  EXPECT_EQ(verdict().word, Word::faster);
}

// Whoever works beside some of its bursts alone is fast in those; a busy machine adds to any.
TEST_F(DoubtsTest, WorkBesideTheFastestBurstsIsSeen) {
  const auto let_mine_work = [&](std::size_t one_in, std::int64_t fast_ns) {
    for (ProcessSamples& process : confirmation().processes)
      for (KernelSamples& kernel : process.kernels) {
        kernel.launches = 1;
        kernel.burst_ns.resize(24);
        kernel.clean.assign(24, 1);
        kernel.outside_ns.resize(24);
        kernel.beside_ns.assign(24, 100'000);
        for (std::size_t i = 0; i < 24; ++i) {
          const bool mine = &kernel == &process.kernels.front();
          const bool works = mine && i % one_in == 0;
          kernel.burst_ns[i] = (works ? fast_ns : 20'000) + static_cast<std::int64_t>(i % 7);
          kernel.outside_ns[i] = kernel.burst_ns[i] + 3'000;
          if (works) kernel.beside_ns[i] = 140'000;
        }
        process.placement.assign(24, 0);
        process.order.assign(24, process.order.front());
      }
  };
  for (const std::size_t one_in : {1, 2, 3}) {
    let_mine_work(one_in, 2'000);
    EXPECT_THAT(codes(), ElementsAre("worked_beside_clock")) << one_in;
    EXPECT_EQ(verdict().word, Word::unsure) << one_in;
  }
  // Disturbed ones are not fast, and keep nobody from being called faster.
  for (const std::size_t one_in : {2, 3, 4}) {
    let_mine_work(one_in, 21'000);
    change_mine([](KernelSamples& kernel) {
      for (std::int64_t& ns : kernel.burst_ns) ns -= 3'000;
      for (std::int64_t& ns : kernel.outside_ns) ns -= 3'000;
    });
    EXPECT_THAT(codes(), IsEmpty()) << one_in;
    EXPECT_EQ(verdict().word, Word::faster) << one_in;
  }
}

TEST_F(DoubtsTest, WhatSomethingIsHeldAgainstDoesNotWin) {
  const auto winner = [&](int rules) {
    RunOptions options = options_;
    options.rules = rules;
    return conclude(problem_, confirmation(), options).winner;
  };
  EXPECT_EQ(winner(kRulesOfWinners), testing::id_of("mine", "skinny"));
  change_mine([](KernelSamples& kernel) {
    for (std::int64_t& ns : kernel.burst_ns) ns /= 2;
  });
  EXPECT_THAT(codes(), ElementsAre("clock"));
  EXPECT_EQ(winner(kRulesOfWinners), testing::id_of("openblas", "gemm"));
  EXPECT_EQ(winner(kRulesOfWinners - 1), testing::id_of("mine", "skinny"));
  // Nobody is left.
  problem_.kernels[1].ending = ending::Crash{11, 0, "confirm", ""};
  EXPECT_EQ(winner(kRulesOfWinners), "");
}

TEST_F(DoubtsTest, EarlierRecordsAreJudgedByTheirRules) {
  change_mine([](KernelSamples& kernel) {
    for (std::int64_t& ns : kernel.burst_ns) ns /= 2;
  });
  options_.rules = 1;
  EXPECT_THAT(codes(), IsEmpty());
  EXPECT_EQ(verdict().word, Word::faster);
}

TEST_F(DoubtsTest, WhoSpoilsItsOwnRoundsIsNotFaster) {
  change_mine([](KernelSamples& kernel) {
    for (std::size_t i = 0; i < kernel.clean.size(); i += 3) {
      kernel.clean[i] = 0;
      kernel.burst_ns[i] *= 2;
      kernel.outside_ns[i] = kernel.burst_ns[i];
    }
  });
  EXPECT_THAT(codes(), Contains("own_rounds_spoiled"));
  EXPECT_EQ(verdict().word, Word::unsure);
}

// Threads that take turns on one core are disturbed more often than one thread is.
TEST_F(DoubtsTest, WhoIsAsFarAheadWithItsSpoiledRoundsHasGainedNothing) {
  change_mine([](KernelSamples& kernel) {
    for (std::size_t i = 0; i < kernel.clean.size(); i += 3) kernel.clean[i] = 0;
  });
  EXPECT_THAT(codes(), IsEmpty());
  EXPECT_EQ(verdict().word, Word::faster);
}

TEST_F(DoubtsTest, LongLaunchesMayBeDisturbedMoreOften) {
  // As often per millisecond.
  for (ProcessSamples& process : confirmation().processes) {
    KernelSamples& mine = process.kernels.front();
    mine.launches *= 8;
    for (std::size_t i = 0; i < 40; ++i) {
      mine.clean[i] = i % 3 == 0 ? 0 : 1;
      mine.burst_ns[i] *= mine.clean[i] == 0 ? 16 : 8;
      process.kernels.back().clean[i] = i % 24 == 0 ? 0 : 1;
    }
    mine.outside_ns = mine.burst_ns;
  }
  EXPECT_THAT(codes(), IsEmpty());
}

TEST_F(DoubtsTest, AProcessWithoutAMeanCountsAsTheWorstOfWhoSpoiledIt) {
  KernelSamples& mine = confirmation().processes.front().kernels.front();
  std::ranges::fill(mine.clean, std::uint8_t{0});
  const auto means =
      pair_means(confirmation().processes, testing::id_of(kMine), testing::id_of(kStock));
  ASSERT_FALSE(means.front().log_ratio);
  const auto judged =
      with_worst_means(means, confirmation(), testing::id_of(kMine), testing::id_of(kStock));
  double worst = 1;
  for (const stats::ProcessMean& mean : means)
    if (mean.log_ratio) worst = std::min(worst, *mean.log_ratio);
  EXPECT_EQ(judged.front().log_ratio, worst);
  EXPECT_EQ(verdict().processes, 7);
}

TEST_F(DoubtsTest, OneProcessDoesNotSpeakForAllOthers) {
  auto& processes = confirmation().processes;
  for (std::size_t i = 1; i < processes.size(); ++i)
    std::ranges::fill(processes[i].kernels.front().clean, std::uint8_t{0});
  const auto means = pair_means(processes, testing::id_of(kMine), testing::id_of(kStock));
  ASSERT_TRUE(means.front().log_ratio);
  const auto judged =
      with_worst_means(means, confirmation(), testing::id_of(kMine), testing::id_of(kStock));
  for (std::size_t i = 1; i < judged.size(); ++i) EXPECT_FALSE(judged[i].log_ratio);
  EXPECT_EQ(verdict().word, Word::unsure);
}

TEST_F(DoubtsTest, RivalsThatAreSlowedAreNoMeasure) {
  for (ProcessSamples& process : confirmation().processes) {
    KernelSamples alone = process.kernels.back();
    for (std::int64_t& ns : alone.burst_ns) ns = static_cast<std::int64_t>(ns * 0.8);
    process.alone = {alone};
  }
  EXPECT_THAT(codes(), Contains("rivals_slowed"));
  EXPECT_EQ(verdict().word, Word::unsure);
}

// Where nothing is stock, whoever made rounds without the candidate is a measure, if it is ours or
// another one of the user's.
TEST_F(DoubtsTest, WithoutStockKernelsTheOthersAreWatched) {
  for (const KernelRole role : {KernelRole::ours, KernelRole::user}) {
    problem_.kernels.back().role = role;
    for (ProcessSamples& process : confirmation().processes) process.alone.clear();
    EXPECT_THAT(codes(), IsEmpty()) << "nobody looked";
    for (ProcessSamples& process : confirmation().processes) {
      process.alone = {process.kernels.back()};
      for (std::int64_t& ns : process.alone.front().burst_ns)
        ns = static_cast<std::int64_t>(ns * 0.8);
    }
    EXPECT_THAT(codes(), Contains("rivals_slowed"));
    const auto pair = judge_pair(problem_, confirmation(), options_, testing::id_of(kMine),
                                 testing::id_of(kStock));
    EXPECT_EQ(pair.word, Word::unsure);
    if (role == KernelRole::user) continue;  // Clocks have none to be held against.
    EXPECT_EQ(pair.reason, "a kernel that it is held against was slower beside it than without it");
  }
}

TEST_F(DoubtsTest, WhatTakingTurnsCostsIsNoSlowing) {
  for (ProcessSamples& process : confirmation().processes) {
    KernelSamples alone = process.kernels.back();
    for (std::int64_t& ns : alone.burst_ns) ns -= 5000;
    process.alone = {alone};
  }
  EXPECT_THAT(codes(), IsEmpty());
}

TEST_F(DoubtsTest, RivalsThatAreNotSlowedAreOne) {
  for (ProcessSamples& process : confirmation().processes) process.alone = {process.kernels.back()};
  EXPECT_THAT(codes(), IsEmpty());
}

TEST_F(DoubtsTest, WhatFailedInCompanyAloneLeavesNobodyFaster) {
  problem_.findings.push_back({"failed_in_company", "openblas/gemm crashed"});
  EXPECT_EQ(verdict().word, Word::unsure);
}

TEST_F(DoubtsTest, TwoProcessesShareLessThanOne) {
  const double wide = 0.02;
  options_.systematic_error_apart = wide;
  EXPECT_EQ(verdict().systematic, wide);
  for (ProcessSamples& process : confirmation().processes) process.kernels.front().process = 0;
  EXPECT_EQ(verdict().systematic, 0);
}

}  // namespace
}  // namespace assay
