#include "assay/select/size_index.h"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "assay/base/random.h"

namespace assay {
namespace {

constexpr std::array<float, 4> kWeights = {1, 2, 1, 0.5f};

std::vector<int64_t> random_sizes(size_t numbers, uint64_t seed, uint64_t most) {
  const CounterRandom random{.key = seed};
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < numbers; ++i)
    sizes.push_back(static_cast<int64_t>(1 + random.below(i, most)));
  return sizes;
}

TEST(SizeIndexTest, TheNearestAreTheFirstOfAllByDistance) {
  // Few distinct sizes make many equally near points; many make a deep tree.
  for (const uint64_t most : {3, 40, 100'000}) {
    for (const size_t count : {1, 2, 8, 9, 17, 100, 1000}) {
      const auto weights = std::span(kWeights).first(3);
      const SizeIndex index(weights, random_sizes(3 * count, most + count, most));
      ASSERT_EQ(index.size(), count);
      for (uint64_t query = 0; query < 50; ++query) {
        const auto at = random_sizes(3, 7 * query + count, 2 * most);
        const auto all = index.by_distance(at);
        ASSERT_EQ(all.size(), count);
        std::vector<SizeIndex::Hit> hits(query % 13);
        ASSERT_EQ(index.nearest(at, hits), std::min(hits.size(), count));
        for (size_t i = 0; i < std::min(hits.size(), count); ++i) {
          EXPECT_EQ(hits[i].point, all[i].point) << i << ": " << count << " of " << most;
          EXPECT_EQ(hits[i].distance, all[i].distance);
        }
      }
    }
  }
}

TEST(SizeIndexTest, WithoutPointsThereIsNoHit) {
  const std::vector<int64_t> none;
  std::array<SizeIndex::Hit, 2> hits;
  EXPECT_EQ(SizeIndex(kWeights, none).nearest(std::array<int64_t, 4>{1, 2, 3, 4}, hits), 0u);
}

TEST(SizeIndexTest, ByDistanceAscendsAndHoldsEveryPointOnce) {
  const SizeIndex index(kWeights, random_sizes(4 * 200, 1, 64));
  const auto all = index.by_distance(std::array<int64_t, 4>{1, 8, 8, 8});
  std::vector<bool> seen(200, false);
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_FALSE(seen[all[i].point]);
    seen[all[i].point] = true;
    if (i == 0) continue;
    EXPECT_LE(all[i - 1].distance, all[i].distance);
    if (all[i - 1].distance == all[i].distance) {
      EXPECT_LT(all[i - 1].point, all[i].point);
    }
  }
}

TEST(SizeIndexTest, DistancesAreWeightedPowersOfTwo) {
  const std::vector<int64_t> sizes = {16, 1024, 1024};
  const auto weights = std::span(kWeights).first(3);
  const SizeIndex index(weights, sizes);
  const auto distance = [&](std::array<int64_t, 3> at) {
    SizeIndex::Hit hit;
    EXPECT_EQ(index.nearest(at, std::span(&hit, 1)), 1u);
    return hit.distance;
  };
  EXPECT_FLOAT_EQ(distance({16, 1024, 1024}), 0);
  EXPECT_FLOAT_EQ(distance({32, 1024, 1024}), 1);
  EXPECT_FLOAT_EQ(distance({8, 1024, 2048}), std::sqrt(2.f));
  EXPECT_FLOAT_EQ(distance({16, 2048, 1024}), 2);
}

}  // namespace
}  // namespace assay
