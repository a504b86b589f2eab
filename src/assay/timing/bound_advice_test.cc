#include "assay/timing/bound_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/json.h"
#include "assay/op/operation.h"
#include "assay/op/user/definition.h"

namespace assay::sweep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string advice_of(Json fields) {
  fields.update({{"m", 8}, {"n", 32}, {"k", 16}});
  const auto problem = (*find_operation("gemm"))->problem(fields);
  EXPECT_TRUE(problem) << (problem ? "" : problem.error().message);
  return bound_advice(*problem);
}

TEST(BoundAdvice, OfRoundingBetweenStepsIsWhatMayBeRounded) {
  EXPECT_THAT(advice_of({{"dtype", "bf16"}, {"epilogue", "bias+silu"}}),
              AllOf(HasSubstr("does it round to bf16 between steps?"), HasSubstr("stays in f32"),
                    Not(HasSubstr("normwise"))));
  // Nothing is rounded between steps that are of the output's type, or where there are none.
  EXPECT_THAT(advice_of({{"dtype", "f32"}, {"epilogue", "bias+silu"}}),
              HasSubstr("declare `error: normwise`"));
  EXPECT_THAT(advice_of({{"dtype", "bf16"}}), HasSubstr("declare `error: normwise`"));
}

user::Definition doubled() {
  user::Definition made;
  made.name = "doubled";
  made.dimensions = {"m", "n"};
  made.operands = {{"x", {"m", "n"}, {DType::f32}, false}, {"out", {"m", "n"}, {DType::f32}, true}};
  made.tolerances = {{"", {1e-5, 1e-9}}};
  made.inputs = {user::known_inputs().begin(), user::known_inputs().end()};
  made.reference = {user::Language::cpp, "doubled.cc", "doubled", "void doubled();", ""};
  return made;
}

// Of gemm, whose bounds are derived from its inputs, nothing of the kind is ever said.
TEST(CancellingAdvice, IsForADefinitionWhoseElementsAreOutsideByLittle) {
  const auto gemm = (*find_operation("gemm"))->problem({{"m", 8}, {"n", 32}, {"k", 16}});
  ASSERT_TRUE(gemm);
  const Check close{.max_error = 3}, far{.max_error = 1e6};
  EXPECT_EQ(cancelling_advice(*gemm, close, InputKind::needle), "");
  const auto operation = find_operation(user::id_of(doubled()));
  ASSERT_TRUE(operation) << operation.error().message;
  const auto all = (*operation)->problem({{"m", 8}, {"n", 32}});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_THAT(cancelling_advice(*all, close, InputKind::needle), HasSubstr("without needle"));
  EXPECT_THAT(cancelling_advice(*all, close, InputKind::wide_range),
              HasSubstr("without wide_range"));
  EXPECT_THAT(cancelling_advice(*all, close, std::nullopt), HasSubstr("every other timed launch"));
  EXPECT_EQ(cancelling_advice(*all, close, InputKind::uniform), "");
  EXPECT_EQ(cancelling_advice(*all, far, InputKind::needle), "");
  user::Definition without = doubled();
  std::erase(without.inputs, InputKind::needle);
  const auto other = find_operation(user::id_of(without));
  ASSERT_TRUE(other) << other.error().message;
  const auto problem = (*other)->problem({{"m", 8}, {"n", 32}});
  ASSERT_TRUE(problem) << problem.error().message;
  EXPECT_EQ(cancelling_advice(*problem, close, std::nullopt), "");
}

}  // namespace
}  // namespace assay::sweep
