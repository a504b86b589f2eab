#include "assay/select/problem_digest.h"

#include <array>

#include <gtest/gtest.h>

#include "assay/op/gemm/gemm.h"

namespace assay {
namespace {

ProblemDigest digest(const gemm::Shape& shape) { return digest_of(*gemm::problem(shape)); }

const gemm::Shape kShape{.m = 4, .n = 8, .k = 16};

TEST(ProblemDigestTest, NamesRolesAndWeightsAreNotInIt) {
  EXPECT_EQ(digest(kShape),
            digest({.name = "x", .role = "y", .m = 4, .n = 8, .k = 16, .weight = 2}));
}

TEST(ProblemDigestTest, SizesAndStridesChangeTheWholeAndNotTheKind) {
  for (const gemm::Shape& other :
       {gemm::Shape{.m = 5, .n = 8, .k = 16}, gemm::Shape{.m = 4, .n = 8, .k = 16, .batch = 2},
        gemm::Shape{.m = 4, .n = 8, .k = 16, .ldb = 32}, gemm::Shape{.m = 1, .n = 8, .k = 16}}) {
    EXPECT_EQ(digest(kShape).kind, digest(other).kind);
    EXPECT_NE(digest(kShape).whole, digest(other).whole);
  }
}

TEST(ProblemDigestTest, TypesLayoutsLifetimesAndScalarsChangeTheKind) {
  for (const gemm::Shape& other : {gemm::Shape{.m = 4, .n = 8, .k = 16, .dtype = DType::bf16},
                                   gemm::Shape{.m = 4, .n = 8, .k = 16, .layout = "tt"},
                                   gemm::Shape{.m = 4, .n = 8, .k = 16, .layout = "tnn"},
                                   gemm::Shape{.m = 4, .n = 8, .k = 16, .constant = {"b"}},
                                   gemm::Shape{.m = 4, .n = 8, .k = 16, .alpha = 2}}) {
    EXPECT_NE(digest(kShape).kind, digest(other).kind);
    EXPECT_NE(digest(kShape).whole, digest(other).whole);
  }
}

// Users come with tensors, sweeps with shapes: where the data lies alike they must meet.
TEST(ProblemDigestTest, TensorsAndShapesOfTheSameDataAgree) {
  alignas(64) static std::array<float, 4096> memory{};
  for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{
           {4, 8, 16}, {1, 8, 16}, {4, 1, 16}, {4, 8, 1}, {1, 1, 16}, {1, 8, 1}, {1, 1, 1}}) {
    for (const std::string layout : {"tt", "tn", "nt", "nn", "tnn"}) {
      const auto view = [&](int64_t rows, int64_t columns, char letter) {
        TensorView made;
        made.data = memory.data();
        made.rank = 2;
        made.size = {rows, columns};
        made.stride = {letter == 't' ? columns : 1, letter == 't' ? 1 : rows};
        return made;
      };
      const auto by_tensors =
          gemm::problem(gemm::Arguments{.a = view(m, k, layout[0]),
                                        .b = view(k, n, layout[1]),
                                        .out = view(m, n, layout.size() > 2 ? layout[2] : 't')});
      ASSERT_TRUE(by_tensors) << by_tensors.error().message;
      const auto by_shape = gemm::problem(gemm::Shape{.m = m, .n = n, .k = k, .layout = layout});
      ASSERT_TRUE(by_shape);
      EXPECT_EQ(kind_of(*by_tensors), kind_of(*by_shape)) << layout << m << n << k;
      EXPECT_EQ(digest_of(*by_tensors), digest_of(*by_shape)) << layout << m << n << k;
    }
  }
}

TEST(ProblemDigestTest, AlignmentsAreComparedOperandByOperand) {
  EXPECT_TRUE(aligned_as(0x060606, 0x060606));
  EXPECT_TRUE(aligned_as(0x070606, 0x060606));
  EXPECT_FALSE(aligned_as(0x070506, 0x060606));
  EXPECT_FALSE(aligned_as(0x0606, 0x060606));
  EXPECT_TRUE(aligned_as(0, 0));
  EXPECT_EQ(alignments_of(*gemm::problem(kShape)), 0x060606u);
}

}  // namespace
}  // namespace assay
