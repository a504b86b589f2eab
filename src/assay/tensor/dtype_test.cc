#include "assay/tensor/dtype.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "assay/base/random.h"

namespace assay {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

double decode16(DType dtype, uint16_t bits) { return load_as_double(dtype, &bits); }
uint16_t encode16(DType dtype, double value) {
  uint16_t bits = 0;
  store_from_double(dtype, value, &bits);
  return bits;
}

// The value of a 16-bit float by the definition of the format.
double by_definition(uint16_t bits, int mantissa_bits, int bias) {
  const int exponent_bits = 15 - mantissa_bits;
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const int exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1);
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return mantissa ? kNan : sign * kInf;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

struct Format16 {
  DType dtype;
  int mantissa_bits, bias;
};

class SixteenBits : public testing::TestWithParam<Format16> {};

TEST_P(SixteenBits, EveryCodeDecodesAsDefinedAndComesBack) {
  const auto [dtype, mantissa_bits, bias] = GetParam();
  for (int code = 0; code < 65536; ++code) {
    const auto bits = static_cast<uint16_t>(code);
    const double expected = by_definition(bits, mantissa_bits, bias);
    const double value = decode16(dtype, bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << code;
      ASSERT_TRUE(std::isnan(decode16(dtype, encode16(dtype, value)))) << code;
      continue;
    }
    ASSERT_EQ(value, expected) << code;
    ASSERT_EQ(encode16(dtype, value), bits) << code;
  }
}

TEST_P(SixteenBits, RoundsToNearestAndTiesToEven) {
  const DType dtype = GetParam().dtype;
  const uint16_t infinity = encode16(dtype, kInf);
  for (int code = 0; code + 1 < infinity; ++code) {
    const double low = decode16(dtype, static_cast<uint16_t>(code));
    const double high = decode16(dtype, static_cast<uint16_t>(code + 1));
    const double middle = (low + high) / 2;  // Exact: a double has far more bits.
    const int even = code % 2 == 0 ? code : code + 1;
    ASSERT_EQ(encode16(dtype, middle), even);
    ASSERT_EQ(encode16(dtype, std::nextafter(middle, 0)), code);
    ASSERT_EQ(encode16(dtype, std::nextafter(middle, kInf)), code + 1);
    ASSERT_EQ(encode16(dtype, -middle), even | 0x8000);
  }
}

TEST_P(SixteenBits, OverflowsToInfinityHalfAStepAboveTheLargest) {
  const DType dtype = GetParam().dtype;
  const double largest = info(dtype).max_finite;
  const double step =
      largest - decode16(dtype, static_cast<uint16_t>(encode16(dtype, largest) - 1));
  EXPECT_EQ(round_to(dtype, std::nextafter(largest + step / 2, 0)), largest);
  EXPECT_EQ(round_to(dtype, largest + step / 2), kInf);
  EXPECT_EQ(round_to(dtype, -1e300), -kInf);
  EXPECT_EQ(round_to(dtype, 5e-324), 0);
  EXPECT_TRUE(std::signbit(round_to(dtype, -5e-324)));
}

INSTANTIATE_TEST_SUITE_P(Formats, SixteenBits,
                         testing::Values(Format16{DType::f16, 10, 15},
                                         Format16{DType::bf16, 7, 127}),
                         [](const auto& info_) {
                           return std::string(to_string(info_.param.dtype));
                         });

TEST(DTypeTest, OneRoundingAndNotTwo) {
  // Just above the tie between 1 and 1 + 2^-10: rounding to float first would land on the tie.
  EXPECT_EQ(round_to(DType::f16, 1 + 0x1p-11 + 0x1p-40), 1 + 0x1p-10);
  EXPECT_EQ(round_to(DType::bf16, 1 + 0x1p-8 + 0x1p-40), 1 + 0x1p-7);
}

TEST(DTypeTest, IntegersRoundToEvenAndSaturate) {
  EXPECT_EQ(round_to(DType::s8, 2.5), 2);
  EXPECT_EQ(round_to(DType::s8, 3.5), 4);
  EXPECT_EQ(round_to(DType::s8, -2.5), -2);
  EXPECT_EQ(round_to(DType::s8, 1000), 127);
  EXPECT_EQ(round_to(DType::s8, -kInf), -128);
  EXPECT_EQ(round_to(DType::s8, kNan), 0);
  EXPECT_EQ(round_to(DType::s32, 3e9), 2147483647);
  EXPECT_EQ(round_to(DType::s32, -3e9), -2147483648.0);
  EXPECT_EQ(round_to(DType::s32, 2147483646.5), 2147483646);
}

TEST(DTypeTest, WholeRangesAgreeWithSingleElements) {
  const CounterRandom random{7, 1};
  std::vector<double> values(1003);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = random.uniform(i) * std::ldexp(1.0, static_cast<int>(random.below(i, 80)) - 40);
  values[5] = kNan;
  values[6] = -kInf;
  for (DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::s8, DType::s32}) {
    const int64_t size = size_bytes(dtype);
    std::vector<std::byte> bytes(values.size() * size + 1);
    std::byte* odd = bytes.data() + 1;  // Unaligned on purpose.
    convert_from_double(dtype, values.data(), static_cast<int64_t>(values.size()), odd);
    std::vector<double> back(values.size());
    convert_to_double(dtype, odd, static_cast<int64_t>(back.size()), back.data());
    for (size_t i = 0; i < values.size(); ++i) {
      const double one = round_to(dtype, values[i]);
      ASSERT_TRUE(back[i] == one || (std::isnan(back[i]) && std::isnan(one))) << i;
      ASSERT_EQ(std::signbit(back[i]), std::signbit(one)) << i;
    }
  }
}

TEST(DTypeTest, TableIsIndexedByTheEnum) {
  for (const DTypeInfo& row : all_dtypes()) {
    EXPECT_EQ(&info(row.dtype), &row);
    EXPECT_EQ(find_dtype(row.name), row.dtype);
  }
  EXPECT_EQ(epsilon(DType::f32), std::numeric_limits<float>::epsilon());
  EXPECT_EQ(epsilon(DType::bf16), 0x1p-7);
  EXPECT_EQ(epsilon(DType::s8), 0);
}

TEST(DTypeTest, UnknownNamesGetTheNearest) {
  EXPECT_EQ(*parse_dtype("bfloat16"), DType::bf16);
  EXPECT_EQ(*parse_dtype("half"), DType::f16);
  const auto wrong = parse_dtype("bf61");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("'bf16'"), std::string::npos) << wrong.error().message;
  EXPECT_FALSE(parse_dtype(""));
}

}  // namespace
}  // namespace assay
