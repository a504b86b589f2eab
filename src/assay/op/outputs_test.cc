#include "assay/op/outputs.h"

#include <algorithm>
#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/op/operation.h"

namespace assay {
namespace {

Problem problem(std::initializer_list<int64_t> output_bytes) {
  Problem::Parts parts;
  parts.operation = "any";
  parts.name = "any";
  parts.operands.push_back({.role = "x", .span_bytes = 8});
  for (const int64_t bytes : output_bytes)
    parts.operands.push_back({.role = "out", .access = Access::write, .span_bytes = bytes});
  parts.fields = std::make_shared<const Json>(Json::object());
  return Problem::from_parts(std::move(parts));
}

TEST(OutputPlaces, ASingleOutputIsThePiece) {
  const OutputPlaces places = OutputPlaces::of(problem({100}));
  EXPECT_EQ(places.bytes, 100U);
  // Of another length, too: whoever compares it says what is wrong.
  for (const size_t bytes : {99, 100, 101})
    EXPECT_EQ(places.split(std::vector<std::byte>(bytes)).front().size(), bytes);
}

TEST(OutputPlaces, EachBeginsAtALineBehindTheOneBefore) {
  const OutputPlaces places = OutputPlaces::of(problem({100, 4, 8}));
  EXPECT_EQ(places.bytes, 192U + 8U);
  alignas(64) std::array<std::byte, 200> piece = {};
  std::array<void*, 4> data = {};
  places.set(data, piece.data());
  EXPECT_EQ(data,
            (std::array<void*, 4>{nullptr, piece.data(), piece.data() + 128, piece.data() + 192}));
  const auto outputs = places.split(piece);
  ASSERT_EQ(outputs.size(), 3U);
  EXPECT_EQ(outputs[1].data(), piece.data() + 128);
  EXPECT_EQ(outputs[1].size(), 4U);
  // Of a piece that is too short, what is there.
  const auto cut = places.split(std::span(piece).first(130));
  EXPECT_EQ(cut[0].size(), 100U);
  EXPECT_EQ(cut[1].size(), 2U);
  EXPECT_EQ(cut[2].size(), 0U);
}

TEST(OutputPlaces, WhatIsAlsoReadIsPutThereAheadOfALaunch) {
  Problem::Parts parts;
  parts.operation = parts.name = "any";
  for (const Access access : {Access::read, Access::write, Access::read_write})
    parts.operands.push_back({.role = "any", .access = access, .span_bytes = 4});
  parts.fields = std::make_shared<const Json>(Json::object());
  const OutputPlaces places = OutputPlaces::of(Problem::from_parts(std::move(parts)));
  ASSERT_EQ(places.places.size(), 2U);
  EXPECT_FALSE(places.places[0].read);
  EXPECT_TRUE(places.places[1].read);
  std::array<std::byte, 4> x, sum;
  x.fill(std::byte{1});
  sum.fill(std::byte{2});
  std::array<void*, 3> inputs = {x.data(), nullptr, sum.data()};
  std::array<std::byte, 64 + 4> piece = {};
  places.give(inputs, piece.data());
  EXPECT_EQ(std::ranges::count(std::span(piece).first(64), std::byte{0}), 64);
  EXPECT_EQ(std::ranges::count(std::span(piece).subspan(64), std::byte{2}), 4);
}

TEST(Operation, OneIsTheDefault) {
  EXPECT_EQ(std::ranges::count_if(built_in_operations(),
                                  [](const Operation* one) { return one->is_default(); }),
            1);
  EXPECT_TRUE(find_operation(default_operation()));
}

}  // namespace
}  // namespace assay
