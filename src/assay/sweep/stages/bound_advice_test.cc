#include "assay/sweep/stages/bound_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/json.h"
#include "assay/op/operation.h"

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

}  // namespace
}  // namespace assay::sweep
