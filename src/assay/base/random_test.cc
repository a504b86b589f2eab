#include "assay/base/random.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace assay {
namespace {

using Block = std::array<std::uint32_t, 4>;

// Known answers that the authors of Philox publish with Random123.
TEST(CounterRandom, MatchesThePublishedAnswers) {
  EXPECT_EQ((CounterRandom{0, 0}.at(0)), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ((CounterRandom{~0ull, ~0ull}.at(~0ull)),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ((CounterRandom{0x299f31d0a4093822, 0x0370734413198a2e}.at(0x85a308d3243f6a88)),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(CounterRandom, UniformFillsItsRangeEvenly) {
  const CounterRandom random{1, 2};
  double sum = 0, squares = 0;
  constexpr int kCount = 100'000;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.uniform(i);
    ASSERT_GE(x, -1);
    ASSERT_LT(x, 1);
    sum += x;
    squares += x * x;
  }
  // Standard errors are 0.0018 and 0.0009: these bounds are beyond five of them.
  EXPECT_NEAR(sum / kCount, 0, 0.01);
  EXPECT_NEAR(squares / kCount, 1.0 / 3, 0.005);
}

TEST(CounterRandom, FillDoesNotDependOnOrderOrPieces) {
  const CounterRandom random{3, 4};
  std::vector<double> whole(101);
  for (const VectorUnit unit :
       {VectorUnit::baseline, VectorUnit::avx2, VectorUnit::avx512, VectorUnit::best}) {
    if (!has_vector_unit(unit)) continue;
    whole.assign(whole.size(), 7);
    random.fill_uniform(7, whole, unit);
    for (std::size_t i = 0; i < whole.size(); ++i) ASSERT_EQ(whole[i], random.uniform(7 + i)) << i;
    // Where blocks' numbers leave 32 bits.
    constexpr std::uint64_t kFar = (std::uint64_t{1} << 33) - 50;
    random.fill_uniform(kFar, whole, unit);
    for (std::size_t i = 0; i < whole.size(); ++i) ASSERT_EQ(whole[i], random.uniform(kFar + i));
    random.fill_uniform(7, whole, unit);
  }
  std::vector<double> piece(4);
  random.fill_uniform(7 + 50, piece);
  EXPECT_TRUE(std::equal(piece.begin(), piece.end(), whole.begin() + 50));
}

TEST(CounterRandom, WordsDoNotDependOnOrderOrPieces) {
  const CounterRandom random{5, 6};
  std::vector<std::uint32_t> words(203);
  for (const VectorUnit unit :
       {VectorUnit::baseline, VectorUnit::avx2, VectorUnit::avx512, VectorUnit::best}) {
    if (!has_vector_unit(unit)) continue;
    for (const std::uint64_t first :
         {std::uint64_t{0}, std::uint64_t{7}, (std::uint64_t{1} << 34) - 50}) {
      words.assign(words.size(), 7);
      random.fill_words(first, words, unit);
      for (std::size_t i = 0; i < words.size(); ++i)
        ASSERT_EQ(words[i], random.word(first + i)) << i;
    }
  }
  EXPECT_EQ(random.word(6), random.at(1)[2]);
}

TEST(CounterRandom, FloatsAreTheDoublesRoundedTowardsZero) {
  const CounterRandom random{5, 0};
  std::vector<float> values(10'000);
  random.fill_uniform(0, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double exact = random.uniform(i);
    ASSERT_LE(std::fabs(values[i]), std::fabs(exact));
    ASSERT_NEAR(values[i], exact, 1.2e-7);
  }
}

TEST(CounterRandom, KeysAndStreamsDiffer) {
  EXPECT_NE(CounterRandom({1, 0}).bits(0), CounterRandom({2, 0}).bits(0));
  EXPECT_NE(CounterRandom({1, 0}).bits(0), CounterRandom({1, 1}).bits(0));
  EXPECT_NE(CounterRandom({1, 0}).bits(0), CounterRandom({1, 0}).bits(1));
}

TEST(CounterRandom, BelowStaysBelow) {
  const CounterRandom random{9, 9};
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t value = random.below(i, 7);
    ASSERT_LT(value, 7u);
    seen.insert(value);
  }
  EXPECT_EQ(seen.size(), 7u);
  EXPECT_EQ(random.below(0, 1), 0u);
  EXPECT_EQ(random.below(0, 0), 0u);
}

TEST(Seeds, AreSecretOrReproducible) {
  EXPECT_NE(secret_seed().value(), secret_seed().value());
  // The first bytes of SHA-256("abc"), ba 78 16 bf 8f 01 cf ea, little endian.
  EXPECT_EQ(seed_from("abc"), 0xeacf018fbf1678bau);
  const SecretSeed seed{};
  EXPECT_NE(seed_from(seed, "inputs"), seed_from(seed, "order"));
  EXPECT_EQ(seed_from(seed, "inputs"), seed_from(seed, "inputs"));
}

}  // namespace
}  // namespace assay
