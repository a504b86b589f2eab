#include "assay/kernel/ranker.h"

#include <array>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "assay/base/json.h"
#include "assay/kernel/tile_design.h"
#include "assay/op/gemm/gemm.h"

namespace assay {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

TEST(OrderOf, ByCostThenThoseWithoutOneAndOtherwiseAsTheyAreListed) {
  EXPECT_EQ(order_of(std::vector<double>{kNone, 2, 1, kNone, 2, 0}),
            (std::vector<size_t>{5, 2, 1, 4, 0, 3}));
  EXPECT_TRUE(order_of({}).empty());
}

class Ranked final : public Ranker {
 public:
  Ranked(const char* name, int rank) : info_{.name = name, .rank = rank} {}
  const RankerInfo& info() const override { return info_; }

 private:
  Result<std::unique_ptr<Scorer>> do_open(const ProviderSettings&) const override {
    return fail(ErrorCode::unsupported, "it scores nothing");
  }
  RankerInfo info_;
};

TEST(FirstRanker, IsOfTheLeastRankAndOfSeveralTheFirst) {
  std::vector<std::unique_ptr<Ranker>> rankers;
  EXPECT_EQ(first_ranker(rankers), "");
  const auto add = [&](const char* name, int rank) {
    rankers.push_back(std::make_unique<Ranked>(name, rank));
  };
  add("unranked", kNoRank);
  EXPECT_EQ(first_ranker(rankers), "unranked");
  add("second", 20);
  add("first", 10);
  add("as_first", 10);
  EXPECT_EQ(first_ranker(rankers), "first");
}

class Odd final : public Scorer {
  void do_score(std::span<const KernelMetadata>, const Problem&, const DeviceFacts&,
                Scores& scores) const override {
    scores.costs = {1, std::numeric_limits<double>::infinity(), -kNone};
    scores.unscored["known"] = 1;
  }
};

TEST(Scorer, WhatIsNoCostIsNoneAndEveryRowIsExplained) {
  const std::vector<KernelMetadata> rows(5);
  const auto problem = gemm::problem({.m = 1, .n = 1, .k = 1});
  ASSERT_TRUE(problem);
  const Scores scores = Odd().score(rows, *problem, {});
  ASSERT_EQ(scores.costs.size(), 5u);
  EXPECT_EQ(scores.costs[0], 1);
  for (size_t i = 1; i < 5; ++i) EXPECT_TRUE(scores.costs[i] != scores.costs[i]) << i;
  EXPECT_EQ(scores.unscored.at("known"), 1);
  EXPECT_EQ(scores.unscored.at("it came to no finite cost"), 3);
}

TEST(TileReader, ReadsWhatDesignsSayAndTurnsWhatIsTurned) {
  TileReader reader;
  TileDesign tile;
  EXPECT_EQ(reader.read({{"tile_m", int64_t{128}},
                         {"tile_n", int64_t{64}},
                         {"cluster_m", int64_t{2}},
                         {"split_k", int64_t{0}},
                         {"schedule", std::string("tma_warpspecialized_pingpong")},
                         {"scheduler", std::string("stream_k")}},
                        tile),
            "");
  EXPECT_EQ(tile.tile_m, 128);
  EXPECT_EQ(tile.cluster_m, 2);
  EXPECT_EQ(tile.split_k, 1);
  EXPECT_TRUE(tile.pingpong);
  EXPECT_TRUE(tile.stream_k);
  EXPECT_EQ(
      reader.read({{"tile_m", int64_t{128}}, {"tile_n", int64_t{64}}, {"swapped", true}}, tile),
      "");
  EXPECT_EQ(tile.tile_m, 64);
  EXPECT_FALSE(tile.pingpong);
  EXPECT_NE(reader.read({{"tile_m", int64_t{128}}}, tile), "");
  EXPECT_NE(reader.read({}, tile), "");
}

TEST(KernelTraits, WhatACompileCostsCrossesAProcessAndChangesNoId) {
  KernelTraits traits;
  traits.provider = "p";
  traits.family = "f";
  traits.name = "n";
  traits.rule = std::make_shared<const ProblemRule>();
  const KernelMetadata free(traits, {});
  EXPECT_FALSE(free.to_json().contains("compile_seconds"));
  traits.compile_seconds = 45;
  const KernelMetadata costly(traits, {});
  EXPECT_EQ(costly.id(), free.id());
  const auto read = KernelMetadata::from_json(costly.to_json());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->compile_seconds(), 45);
  Json hostile = costly.to_json();
  hostile["compile_seconds"] = -1;
  EXPECT_FALSE(KernelMetadata::from_json(hostile));
}

TEST(KernelTraits, RowsThatDifferInWhatALaunchKnowsAloneAreOneArtifact) {
  KernelTraits traits;
  traits.provider = "p";
  traits.family = "f";
  traits.name = "n";
  traits.rule = std::make_shared<const ProblemRule>();
  const Design one{{"tile_m", int64_t{64}}, {"raster", std::string("m")}};
  const Design other{{"tile_m", int64_t{64}}, {"raster", std::string("n")}};
  EXPECT_EQ(KernelMetadata(traits, one).artifact_id(), KernelMetadata(traits, one).id());
  const std::string id = KernelMetadata(traits, one).id();
  traits.launch_attributes = {"raster", "not there"};
  traits.name = "another name";
  const KernelMetadata first(traits, one), second(traits, other);
  EXPECT_EQ(first.id(), id) << "what shares an artifact changes no id";
  EXPECT_NE(first.id(), second.id());
  EXPECT_EQ(first.artifact_id(), second.artifact_id());
  EXPECT_NE(first.artifact_id(), KernelMetadata(traits, {{"tile_m", int64_t{32}}}).artifact_id());
  const auto read = KernelMetadata::from_json(second.to_json());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->artifact_id(), first.artifact_id());
}

}  // namespace
}  // namespace assay
