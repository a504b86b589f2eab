#include "assay/select/expected_loss.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/random.h"

namespace assay {
namespace {

using ::testing::ElementsAre;

// One tuned problem: where it is, and what it says, the winner first.
struct Tuned {
  float distance;
  std::vector<KernelLoss> losses;
};

Tuned tuned(float distance, std::vector<std::pair<uint32_t, float>> losses) {
  Tuned made{.distance = distance, .losses = {}};
  for (const auto& [kernel, loss] : losses)
    made.losses.push_back({kernel, static_cast<uint32_t>(made.losses.size()), loss});
  return made;
}

std::vector<Candidate> ranked(const std::vector<Tuned>& table) {
  std::vector<Neighbour> neighbours;
  for (const Tuned& one : table) neighbours.push_back({one.distance, one.losses});
  std::array<Candidate, kMostCandidates> candidates;
  const size_t count = rank_candidates(neighbours, candidates);
  return {candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(count)};
}

std::vector<uint32_t> kernels(const std::vector<Tuned>& table) {
  std::vector<uint32_t> found;
  for (const Candidate& candidate : ranked(table)) found.push_back(candidate.kernel);
  return found;
}

// Up to six problems, at growing distances, of up to nine of twelve kernels each.
std::vector<Tuned> random_table(uint64_t seed) {
  const CounterRandom random{.key = seed};
  std::vector<Tuned> table;
  uint64_t next = 0;
  const uint64_t problems = 1 + random.below(next++, kNeighbours);
  float distance = 0;
  for (uint64_t i = 0; i < problems; ++i) {
    distance += static_cast<float>(0.05 + random.uniform_unit(next++));
    Tuned& one = table.emplace_back(tuned(distance, {}));
    std::array<uint32_t, 12> order{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    for (size_t j = order.size(); j > 1; --j)
      std::swap(order[j - 1], order[random.below(next++, j)]);
    const uint64_t count = 1 + random.below(next++, 9);
    float loss = 0;
    for (uint32_t rank = 0; rank < count; ++rank) {
      one.losses.push_back({order[rank], rank, loss});
      loss += static_cast<float>(0.1 * random.uniform_unit(next++));
    }
  }
  return table;
}

// The definition, word for word.
std::map<uint32_t, double> expected(const std::vector<Tuned>& table) {
  std::map<uint32_t, double> losses;
  for (const Tuned& one : table)
    for (const KernelLoss& choice : one.losses) losses[choice.kernel] = 0;
  for (auto& [kernel, loss] : losses) {
    double weights = 0;
    for (const Tuned& one : table) {
      const auto said = std::find_if(one.losses.begin(), one.losses.end(),
                                     [&](const auto& choice) { return choice.kernel == kernel; });
      const double weight = 1 / (static_cast<double>(one.distance) * one.distance);
      loss += weight * (said == one.losses.end() ? kUntimedLoss : said->loss);
      weights += weight;
    }
    loss /= weights;
  }
  return losses;
}

TEST(ExpectedLossTest, EveryKernelStandsThereOnceAndTheLeastLossFirst) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const std::vector<Tuned> table = random_table(seed);
    const std::map<uint32_t, double> losses = expected(table);
    const std::vector<Candidate> found = ranked(table);
    ASSERT_EQ(found.size(), losses.size()) << seed;
    std::map<uint32_t, int> seen;
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(++seen[found[i].kernel], 1);
      EXPECT_NEAR(found[i].loss, losses.at(found[i].kernel), 1e-5) << seed;
      EXPECT_LE(found[i == 0 ? 0 : i - 1].loss, found[i].loss);
      // Where it is said to stand it stands, and no nearer problem has it.
      EXPECT_EQ(table[found[i].neighbour].losses[found[i].rank].kernel, found[i].kernel);
      for (size_t nearer = 0; nearer < found[i].neighbour; ++nearer)
        for (const KernelLoss& choice : table[nearer].losses)
          EXPECT_NE(choice.kernel, found[i].kernel);
    }
  }
}

TEST(ExpectedLossTest, OneNeighbourGivesItsOwnOrder) {
  EXPECT_THAT(kernels({tuned(2, {{4, 0}, {1, 0.01f}, {7, 0.3f}})}), ElementsAre(4, 1, 7));
  EXPECT_TRUE(kernels({}).empty());
}

TEST(ExpectedLossTest, AFlukeAmongNeighboursThatAgreeIsOutvoted) {
  const auto agree = [](float distance) { return tuned(distance, {{1, 0}, {2, 0.05f}}); };
  const Tuned fluke = tuned(1, {{0, 0}, {1, 0.02f}});
  EXPECT_EQ(kernels({fluke}).front(), 0u);
  EXPECT_EQ(kernels({fluke, agree(1.2f), agree(1.4f)}).front(), 1u);
  // Even where the fluke does not know what the others agree on.
  const Tuned alone = tuned(1, {{0, 0}});
  EXPECT_EQ(kernels({alone, agree(1.2f), agree(1.3f)}).front(), 1u);
  // One other is not many, and far ones count little.
  EXPECT_EQ(kernels({alone, agree(1.2f)}).front(), 0u);
  EXPECT_EQ(kernels({alone, agree(4), agree(4), agree(4)}).front(), 0u);
}

TEST(ExpectedLossTest, WhatWasNotConfirmedIsNeitherGoodNorHopeless) {
  // A kernel that is 5 % behind everywhere is safer than one that won once and is unknown
  // elsewhere, and that one safer than one that is known to be 20 % behind elsewhere.
  const std::vector<Tuned> table = {tuned(1, {{0, 0}, {1, 0.01f}, {2, 0.05f}}),
                                    tuned(1, {{3, 0}, {2, 0.05f}, {1, 0.2f}}),
                                    tuned(1, {{4, 0}, {2, 0.05f}, {1, 0.2f}})};
  const std::vector<uint32_t> order = kernels(table);
  EXPECT_EQ(order.front(), 2u);
  EXPECT_EQ(order.back(), 1u);
}

TEST(ExpectedLossTest, TheNearerTheLouderAndTheSameSizesDecide) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::vector<Tuned> table = random_table(seed);
    const uint32_t winner = table.front().losses.front().kernel;
    table.front().losses.resize(std::min<size_t>(table.front().losses.size(), 1));
    for (const float distance : {0.f, 1e-4f}) {
      table.front().distance = distance;
      EXPECT_EQ(kernels(table).front(), winner) << seed;
    }
  }
}

TEST(ExpectedLossTest, OnlyRatiosOfDistancesMatter) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::vector<Tuned> table = random_table(seed);
    const std::vector<uint32_t> before = kernels(table);
    for (Tuned& one : table) one.distance *= 4;  // Exactly.
    EXPECT_EQ(kernels(table), before) << seed;
  }
}

TEST(ExpectedLossTest, OfEqualLossesTheNearestNeighboursComesFirst) {
  EXPECT_THAT(kernels({tuned(1, {{5, 0}}), tuned(1, {{3, 0}}), tuned(1, {{4, 0}})}),
              ElementsAre(5, 3, 4));
  EXPECT_THAT(kernels({tuned(1, {{5, 0}, {3, 0}, {4, 0}})}), ElementsAre(5, 3, 4));
}

TEST(ExpectedLossTest, MoreThanAreAskedAreNotHeard) {
  std::vector<Tuned> table(kNeighbours, tuned(1, {{0, 0}}));
  table.insert(table.end(), 20, tuned(1, {{1, 0}}));
  EXPECT_THAT(kernels(table), ElementsAre(0));
  Tuned talkative = tuned(1, {});
  for (uint32_t i = 0; i < 4 * kMostVotes; ++i) talkative.losses.push_back({i, i, 0});
  EXPECT_EQ(kernels({talkative}).size(), kMostVotes);
}

TEST(ExpectedLossTest, ALossIsALogRatioToTheWinner) {
  EXPECT_EQ(loss_of(3, 3, 0), 0);
  EXPECT_EQ(loss_of(0, 0, 0), 0);
  EXPECT_FLOAT_EQ(loss_of(3.3, 3, 1), std::log(1.1f));
  EXPECT_EQ(loss_of(2.9, 3, 1), 0);  // Its interval says that it is behind: no more is known.
  EXPECT_EQ(loss_of(0, 3, 1), kUntimedLoss);
  EXPECT_EQ(loss_of(3, 0, 1), kUntimedLoss);
}

}  // namespace
}  // namespace assay
