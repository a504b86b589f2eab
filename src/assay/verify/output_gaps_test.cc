#include "assay/verify/output_gaps.h"

#include <gmock/gmock.h>

#include "assay/op/rmsnorm/rmsnorm.h"

namespace assay::verify {
namespace {

OutputGaps gaps_of(Json shape, size_t& bytes) {
  const auto problem = rmsnorm::operation().problem(shape);
  EXPECT_TRUE(problem) << problem.error().message;
  bytes = OutputPlaces::of(*problem).bytes;
  return OutputGaps::of(*problem);
}

TEST(OutputGapsTest, DenseOutputsHaveNone) {
  size_t bytes = 0;
  EXPECT_TRUE(gaps_of({{"m", 3}, {"n", 5}, {"ldx", 9}, {"dtype", "f32"}}, bytes).empty());
}

TEST(OutputGapsTest, WhatIsWrittenBetweenRowsIsFoundAndElementsAreFree) {
  size_t bytes = 0;
  const OutputGaps gaps = gaps_of({{"m", 3}, {"n", 5}, {"ldout", 8}, {"dtype", "f32"}}, bytes);
  ASSERT_EQ(bytes, 4u * (2 * 8 + 5));
  std::vector<std::byte> piece(bytes);
  gaps.poison(piece, 7);
  for (size_t at = 0; at < bytes; ++at) {
    const bool is_element = at / 4 % 8 < 5;
    std::vector<std::byte> changed = piece;
    changed[at] ^= std::byte{1};
    const auto found = gaps.find_change(changed, 7);
    EXPECT_EQ(!found, is_element) << at;
    if (!found) continue;
    EXPECT_EQ(found->byte, at);
    EXPECT_EQ(found->changed, 1u);
  }
}

TEST(OutputGapsTest, AnOutputThatIsReadHasThemToo) {
  size_t bytes = 0;
  const OutputGaps gaps = gaps_of(
      {{"m", 3}, {"n", 5}, {"residual", "f32"}, {"ldresidual", 6}, {"dtype", "f32"}}, bytes);
  std::vector<std::byte> piece(bytes);
  gaps.poison(piece, 7);
  piece.assign(bytes, std::byte{1});
  const auto found = gaps.find_change(piece, 7);
  ASSERT_TRUE(found);
  EXPECT_GE(found->changed, 4u);  // Two gaps of four bytes; a byte of poison may be 1.
}

}  // namespace
}  // namespace assay::verify
