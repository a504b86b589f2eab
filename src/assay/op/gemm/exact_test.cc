#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "assay/base/random.h"
#include "assay/op/gemm/exact_plan.h"
#include "assay/op/gemm/freivalds.h"
#include "assay/op/gemm/inputs.h"
#include "assay/op/gemm/reference.h"

namespace assay::gemm {
namespace {

// Integers up to this are values of the type.
double largest_integer(DType dtype) {
  return info(dtype).floating ? std::ldexp(1, info(dtype).significand_bits) : 0x1p31 - 1;
}

TEST(GemmExactTest, SumsAndOutputsFitTheirTypesAndUseThem) {
  std::vector<Shape> shapes;
  for (int64_t k : {1, 2, 3, 7, 8, 33, 500, 4097, 30000}) {
    for (DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::s8}) {
      shapes.push_back({.m = 3, .n = 5, .k = k, .dtype = dtype});
      shapes.push_back({.m = 5, .n = 3, .k = k, .dtype = dtype, .alpha = -2, .beta = 3});
    }
    shapes.push_back({.m = 3, .n = 5, .k = k, .dtype = DType::f16, .accumulate = DType::f16});
    shapes.push_back({.m = 5, .n = 3, .k = k, .dtype = DType::bf16, .accumulate = DType::bf16});
    shapes.push_back({.m = 5, .n = 3, .k = k, .dtype = DType::f32, .out = DType::bf16});
    shapes.push_back(
        {.m = 5, .n = 3, .k = k, .dtype = DType::bf16, .out = DType::f32, .alpha = 0.25});
  }
  for (const Shape& shape : shapes) {
    const Problem made = *problem(shape);
    const View v = *view(made);
    auto inputs = make_inputs(made, v, InputKind::exact, 5);
    ASSERT_TRUE(inputs) << inputs.error().message;
    const auto elements = static_cast<size_t>(v.m * v.n);
    std::vector<double> product(elements), magnitude(elements), c(elements);
    multiply(with_data(matrix_a(v), inputs->a.bytes()), with_data(matrix_b(v), inputs->b.bytes()),
             0, Range::all(v.m), Range::all(v.n), product.data(), magnitude.data());
    if (v.has_c)
      load_tile(with_data(matrix_c(v), inputs->c.bytes()), 0, Range::all(v.m), Range::all(v.n),
                c.data());
    const double q = inputs->limits.quantum;
    double largest = 0;
    for (size_t i = 0; i < elements; ++i) {
      const double scaled = std::fabs(v.alpha / q) * magnitude[i] + std::fabs(v.beta / q * c[i]);
      ASSERT_LE(scaled, largest_integer(v.accumulate)) << made.signature();
      const double out = (v.alpha * product[i] + v.beta * c[i]) / q;
      ASSERT_EQ(out, std::nearbyint(out)) << made.signature();
      ASSERT_LE(std::fabs(out), largest_integer(v.out)) << made.signature();
      ASSERT_EQ(round_to(v.out, out * q), out * q) << made.signature();
      largest = std::max(largest, std::fabs(product[i]));
    }
    EXPECT_GT(largest, 0) << made.signature();
  }
}

TEST(GemmExactTest, ValuesAreTooLongForNarrowerTypes) {
  const auto made = *problem(Shape{.m = 2, .n = 2, .k = 1000});
  const View v = *view(made);
  const Inputs inputs = *make_inputs(made, v, InputKind::exact, 1);
  int beyond_tf32 = 0, beyond_two_bf16 = 0;
  std::vector<double> values(2000);
  load_tile(with_data(matrix_a(v), inputs.a.bytes()), 0, Range::all(2), Range::all(1000),
            values.data());
  for (double value : values) {
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);
    const auto fits = [&](int bits) {
      return std::ldexp(fraction, bits) == std::nearbyint(std::ldexp(fraction, bits));
    };
    beyond_tf32 += !fits(11);
    beyond_two_bf16 += !fits(16);
  }
  EXPECT_GT(beyond_tf32, 500);
  EXPECT_GE(beyond_two_bf16, 2);
}

TEST(GemmFreivaldsTest, ArithmeticModuloThePrime) {
  EXPECT_EQ(modulo(0), 0u);
  EXPECT_EQ(modulo(kPrime), 0u);
  EXPECT_EQ(modulo(-1), kPrime - 1);
  EXPECT_EQ(modulo(static_cast<Wide>(kPrime) * -5 - 3), kPrime - 3);
  EXPECT_EQ(modulo(static_cast<Wide>(1) << 126), uint64_t{1} << (126 - 122));
  EXPECT_EQ(multiply_modulo(kPrime - 1, -1), 1u);
  const CounterRandom random{1, 1};
  for (uint64_t i = 0; i < 1000; ++i) {
    const Wide value = static_cast<Wide>(static_cast<int64_t>(random.bits(2 * i))) *
                       static_cast<int64_t>(random.bits(2 * i + 1)) / 2;
    const Wide rest = value % static_cast<Wide>(kPrime);
    EXPECT_EQ(modulo(value), static_cast<uint64_t>(rest < 0 ? rest + kPrime : rest));
  }
}

TEST(GemmFreivaldsTest, SumsOfTheLargestTermsDoNotOverflow) {
  std::vector<double> integers(10000, -0x1p53);
  std::vector<uint64_t> residues(integers.size(), kPrime - 1);  // -1 modulo the prime.
  ResidueSum sum;
  sum.add(integers.data(), residues.data(), 10000);
  sum.add(integers.data(), residues.data(), 10000);
  EXPECT_EQ(sum.value(), modulo(static_cast<Wide>(20000) << 53));
}

TEST(GemmReferenceTest, EveryInstructionSetGivesTheSameExactProducts) {
  const auto made = *problem(Shape{.m = 101, .n = 45, .k = 530, .dtype = DType::f64});
  const View v = *view(made);
  const Inputs inputs = *make_inputs(made, v, InputKind::exact, 3);
  const Matrix a = with_data(matrix_a(v), inputs.a.bytes()),
               b = with_data(matrix_b(v), inputs.b.bytes());
  std::vector<double> expected(101 * 45), expected_magnitude(101 * 45), tile_a(101 * 530),
      tile_b(530 * 45);
  load_tile(a, 0, Range::all(101), Range::all(530), tile_a.data());
  load_tile(b, 0, Range::all(530), Range::all(45), tile_b.data());
  for (int i = 0; i < 101; ++i) {
    for (int p = 0; p < 530; ++p) {
      for (int j = 0; j < 45; ++j) {
        const double term = tile_a[i * 530 + p] * tile_b[p * 45 + j];
        expected[i * 45 + j] += term;
        expected_magnitude[i * 45 + j] += std::fabs(term);
      }
    }
  }
  for (VectorUnit unit :
       {VectorUnit::best, VectorUnit::baseline, VectorUnit::avx2, VectorUnit::avx512}) {
    if (!has_vector_unit(unit)) continue;
    std::vector<double> product(expected.size(), 7), magnitude(expected.size(), 7);
    multiply(a, b, 0, Range::all(101), Range::all(45), product.data(), magnitude.data(), unit);
    EXPECT_EQ(product, expected) << static_cast<int>(unit);
    EXPECT_EQ(magnitude, expected_magnitude) << static_cast<int>(unit);
    const std::vector<int64_t> rows = {3, 99, 100}, columns = {0, 44};
    std::vector<double> part(6);
    multiply(a, b, 0, Range::of(rows), Range::of(columns), part.data(), nullptr, unit);
    for (size_t y = 0; y < 3; ++y)
      for (size_t x = 0; x < 2; ++x)
        EXPECT_EQ(part[y * 2 + x], expected[rows[y] * 45 + columns[x]]);
  }
}

}  // namespace
}  // namespace assay::gemm
