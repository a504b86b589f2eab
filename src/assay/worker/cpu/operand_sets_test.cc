#include "assay/worker/cpu/operand_sets.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "assay/device/cpu/cpu_device.h"
#include "assay/op/gemm/gemm.h"
#include "assay/process/set_turns.h"

namespace assay::sweep {
namespace {

class OperandSetsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto device = cpu::open({.threads = 1, .pin = false});
    ASSERT_TRUE(device);
    device_ = std::move(*device);
  }

  OperandSets make(std::vector<std::string> constant, measure::Cache cache, uint64_t key = 7) {
    gemm::Shape shape{.m = 3, .n = 40, .k = 50};
    shape.constant = std::move(constant);
    problem_ = *gemm::problem(shape);
    auto sets =
        OperandSets::create(*problem_, *device_, {.cache = cache}, {.key = key, .placement = 5});
    EXPECT_TRUE(sets) << sets.error().message;
    return std::move(*sets);
  }

  std::vector<std::byte> read(const OperandSets& sets, size_t set, size_t operand) const {
    const auto* from = static_cast<const std::byte*>(sets.data(set)[operand]);
    return {from, from + problem_->operands()[operand].span_bytes};
  }

  std::unique_ptr<Device> device_;
  std::optional<Problem> problem_;
};

// A kernel that keeps the first set, or its panels, has nothing for the others.
TEST_F(OperandSetsTest, EverySetHasConstantsOfItsOwn) {
  const OperandSets sets = make({"b"}, measure::Cache::cold_weights);
  ASSERT_GE(sets.count(), 4u);
  std::set<std::vector<std::byte>> seen;
  for (size_t s = 0; s < sets.count(); ++s) {
    const auto found = read(sets, s, 1);
    EXPECT_TRUE(seen.insert(found).second) << s;
    std::vector<std::byte> expected(found.size());
    renew(gemm::operation().renewal(*problem_, 1, {.set = set_seed(7, s)}), expected);
    EXPECT_EQ(found, expected) << "as the referee makes them";
  }
  EXPECT_TRUE(sets.intact());
}

TEST_F(OperandSetsTest, EveryLaunchHasItsOwnOfWhatVaries) {
  for (const std::vector<std::string>& constant : {std::vector<std::string>{}, {"a"}, {"b"}}) {
    OperandSets sets = make(constant, measure::Cache::cold);
    std::map<size_t, std::vector<std::byte>> before;
    for (const size_t operand : {0u, 1u}) before[operand] = read(sets, 2, operand);
    sets.renew(2, 99);
    for (const size_t operand : {0u, 1u})
      EXPECT_EQ(read(sets, 2, operand) == before[operand],
                problem_->operands()[operand].lifetime == Lifetime::constant);
    EXPECT_TRUE(sets.intact());
  }
}

TEST_F(OperandSetsTest, AChangedBitOfAnyInputIsSeen) {
  for (const size_t operand : {0u, 1u}) {
    OperandSets sets = make({"b"}, measure::Cache::cold_weights);
    sets.renew(1, 3);
    static_cast<unsigned char*>(sets.data(1)[operand])[77] ^= 4;
    EXPECT_FALSE(sets.intact());
    EXPECT_FALSE(sets.find_trespass());
    static_cast<unsigned char*>(sets.data(1)[operand])[77] ^= 4;
    EXPECT_TRUE(sets.intact());
  }
}

TEST_F(OperandSetsTest, WarmIsOneSet) { EXPECT_EQ(make({"b"}, measure::Cache::warm).count(), 1u); }

TEST(SetTurnsTest, ABurstsSetsHaveDifferentOutputsAndHaveRested) {
  for (const auto& [sets, outputs] :
       {std::pair<size_t, size_t>{16, 16}, {16, 4}, {64, 64}, {4, 2}, {6, 6}, {1, 1}}) {
    SetTurns turns(sets);
    std::set<size_t> used;
    size_t foreseen = 0;
    for (int burst = 0; burst < 300; ++burst) {
      const size_t wanted = static_cast<size_t>(burst) % 2 == 0 ? 3 : 1000;
      const auto chosen = turns.choose(wanted, outputs, static_cast<uint64_t>(burst) * 17 + 3);
      const size_t most = std::max<size_t>(1, std::min(sets / 2, outputs));
      ASSERT_EQ(chosen.size(), std::min(wanted, most)) << sets << " " << outputs;
      std::set<size_t> different, written;
      for (const size_t set : chosen) {
        different.insert(set);
        written.insert(set % outputs);
        used.insert(set);
      }
      EXPECT_EQ(different.size(), chosen.size());
      EXPECT_EQ(written.size(), chosen.size());
      foreseen += chosen.front() == static_cast<size_t>(burst) % sets ? 1 : 0;
    }
    EXPECT_EQ(used.size(), sets) << "everybody's turn comes";
    if (sets >= 16) {
      EXPECT_LT(foreseen, 100u) << "and nobody knows when";
    }
  }
}

TEST(SetTurnsTest, WhatWasUsedLastIsNotNext) {
  SetTurns turns(30);
  size_t before = 99;
  for (uint64_t i = 0; i < 500; ++i) {
    const size_t next = turns.rested(i).front();
    EXPECT_NE(next, before);
    turns.use(next);
    before = next;
  }
}

TEST(DrawOneTest, TakesEachOnceInAnOrderThatIsNotTheSame) {
  std::set<std::vector<size_t>> orders;
  for (int i = 0; i < 200; ++i) {
    std::vector<size_t> left = {0, 1, 2, 3, 4, 5}, order;
    while (!left.empty()) order.push_back(draw_one(left, 5));
    auto sorted = order;
    std::ranges::sort(sorted);
    EXPECT_EQ(sorted, (std::vector<size_t>{0, 1, 2, 3, 4, 5}));
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 50u) << "with one key";
}

}  // namespace
}  // namespace assay::sweep
