#include "assay/verify/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/op/gemm/gemm.h"

namespace assay::verify {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Audit audit_of(gemm::Shape shape, ErrorBound bound = ErrorBound::elementwise) {
  const auto problem = gemm::problem(shape);
  EXPECT_TRUE(problem) << problem.error().message;
  auto found = audit(*problem, bound);
  EXPECT_TRUE(found) << found.error().message;
  return std::move(*found);
}

TEST(Audit, TrivialKernelsFailOnWhateverTypes) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::s8}) {
    const Audit found = audit_of({.m = 5, .n = 33, .k = 64, .dtype = dtype});
    EXPECT_THAT(found.passed, IsEmpty()) << to_string(dtype);
    const bool narrow = dtype == DType::bf16 || dtype == DType::s8;
    EXPECT_THAT(found.failed, SizeIs(narrow ? 6 : 7)) << to_string(dtype);
  }
  // Of a large one by its types and terms; with the other operand constant.
  EXPECT_THAT(audit_of({.m = 512, .n = 4096, .k = 4096, .constant = {"b"}}).passed, IsEmpty());
  EXPECT_THAT(audit_of({.m = 9, .n = 7, .k = 3, .alpha = 2, .beta = 1}).passed, IsEmpty());
}

// Who promises less of single elements is told from a trivial kernel as well.
TEST(Audit, TrivialKernelsFailWhateverTheyPromise) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::s8}) {
    for (const int64_t k : {4, 64, 14336}) {
      const Audit found = audit_of({.m = 5, .n = 33, .k = k, .dtype = dtype}, ErrorBound::normwise);
      EXPECT_THAT(found.passed, IsEmpty()) << to_string(dtype) << " k=" << k;
    }
  }
}

TEST(Audit, AProblemThatATrivialKernelPassesIsFound) {
  EXPECT_THAT(audit_of({.m = 5, .n = 33, .k = 64, .alpha = 0}).passed, Contains("zeros"));
}

}  // namespace
}  // namespace assay::verify
