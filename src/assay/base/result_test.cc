#include "assay/base/result.h"

#include <memory>

#include <gtest/gtest.h>

namespace assay {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return fail(ErrorCode::invalid_input, "{} is odd", number);
  return number / 2;
}

Status must_be_small(int number) {
  if (number > 10) return fail(ErrorCode::failed, "{} is big", number);
  return {};
}

Result<std::string> quarter(int number) {
  ASSAY_TRY(must_be_small(number));
  ASSAY_TRY(const int once, half(number));
  ASSAY_TRY(const int twice, half(once));
  return fmt::format("{}", twice);
}

TEST(Result, TryPassesValuesOn) { EXPECT_EQ(quarter(8).value(), "2"); }

TEST(Result, TryReturnsTheFirstError) {
  EXPECT_EQ(quarter(12).error().message, "12 is big");
  EXPECT_EQ(quarter(12).error().code, ErrorCode::failed);
  EXPECT_EQ(quarter(6).error().message, "3 is odd");
  EXPECT_EQ(quarter(6).error().code, ErrorCode::invalid_input);
}

TEST(Result, TryMovesWhatCannotBeCopied) {
  const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(7); };
  const auto use = [&]() -> Result<int> {
    ASSAY_TRY(auto pointer, make());
    return *pointer;
  };
  EXPECT_EQ(use().value(), 7);
}

TEST(Result, ContextGoesInFront) {
  const Error error = with_context({ErrorCode::stale, "old"}, "reading x");
  EXPECT_EQ(error.message, "reading x: old");
  EXPECT_EQ(error.code, ErrorCode::stale);
}

TEST(Result, CodesHaveDifferentNames) {
  EXPECT_EQ(to_string(ErrorCode::invalid_input), "invalid_input");
  EXPECT_EQ(to_string(ErrorCode::busy), "busy");
  EXPECT_EQ(to_string(ErrorCode::internal), "internal");
}

}  // namespace
}  // namespace assay
