// Kernels that are right in every element and coarse in the mean, and honest orders of summing up,
// which are not: judged as a run judges them, by the proof on uniform inputs and a few timed ones.
#include "assay/record/coarse.h"

#include <array>
#include <cmath>
#include <cstring>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/op/gemm/gemm.h"
#include "assay/timing/line_errors.h"
#include "testing/strassen.h"

namespace assay::sweep {
namespace {

using Values = std::vector<float>;
// One element of out: a row of a, a column of b.
using Dot = std::function<float(const Values& a, const Values& b)>;

float as_type(DType dtype, double value) {
  std::byte bytes[8];
  store_from_double(dtype, value, bytes);
  return static_cast<float>(load_as_double(dtype, bytes));
}

// Honest orders, in f32.
float term_by_term(const Values& a, const Values& b) {
  float sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum = std::fma(a[i], b[i], sum);
  return sum;
}
float products_rounded(const Values& a, const Values& b) {
  float sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const volatile float product = a[i] * b[i];
    sum += product;
  }
  return sum;
}
float backwards(const Values& a, const Values& b) {
  float sum = 0;
  for (size_t i = a.size(); i-- > 0;) sum = std::fma(a[i], b[i], sum);
  return sum;
}
float in_lanes(const Values& a, const Values& b) {
  std::array<float, 16> lanes = {};
  for (size_t i = 0; i < a.size(); ++i) lanes[i % 16] = std::fma(a[i], b[i], lanes[i % 16]);
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  return sum;
}
float in_blocks(const Values& a, const Values& b) {
  float sum = 0;
  for (size_t first = 0; first < a.size(); first += 256) {
    float block = 0;
    for (size_t i = first; i < std::min(a.size(), first + 256); ++i)
      block = std::fma(a[i], b[i], block);
    sum += block;
  }
  return sum;
}
float kahan(const Values& a, const Values& b) {
  float sum = 0, lost = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const volatile float term = a[i] * b[i] - lost;
    const volatile float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  return sum;
}
double in_f64(const Values& a, const Values& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

// Coarse ones.
Values fixed_point(Values values, int bits) {
  const double step = std::ldexp(1, 1 - bits);
  for (float& value : values) value = static_cast<float>(std::nearbyint(value / step) * step);
  return values;
}
Values significand(Values values, int bits) {
  for (float& value : values) {
    int exponent = 0;
    const double fraction = std::frexp(static_cast<double>(value), &exponent);
    value =
        static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits));
  }
  return values;
}
Dot weights_in_fixed_point(int bits) {
  return [=](const Values& a, const Values& b) {
    return static_cast<float>(in_f64(a, fixed_point(b, bits)));
  };
}
Dot weights_of(int bits) {
  return [=](const Values& a, const Values& b) { return in_lanes(a, significand(b, bits)); };
}
Dot both_of(int bits) {
  return [=](const Values& a, const Values& b) {
    return in_lanes(significand(a, bits), significand(b, bits));
  };
}
float sums_in_f16(const Values& a, const Values& b) {
  float sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum = as_type(DType::f16, static_cast<double>(a[i]) * b[i] + sum);
  return sum;
}

struct Case {
  DType input, out;
  int64_t m, k;
  const char* constant = "b";
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << to_string(c.input) << "_" << to_string(c.out) << "_m" << c.m << "_k" << c.k << "_"
             << c.constant;
}

class Coarse : public ::testing::TestWithParam<Case> {
 protected:
  static constexpr int64_t kColumns = 96;

  void SetUp() override {
    const Case& c = GetParam();
    gemm::Shape shape;
    shape.m = c.m;
    shape.n = kColumns;
    if (std::string_view(c.constant) == "a") std::swap(shape.m, shape.n);
    shape.k = c.k;
    shape.a = shape.b = c.input;
    shape.out = c.out;
    shape.constant = {c.constant};
    problem_.emplace(*gemm::problem(shape));
    instance_ = *gemm::operation().make_instance(*problem_, InputKind::uniform, 11);
  }

  std::vector<std::byte> run(const Dot& dot, const Instance& instance,
                             const InputSeeds& seeds) const {
    const gemm::View v = *gemm::view(*problem_);
    std::array<std::vector<std::byte>, 2> inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      inputs[i].assign(instance.input(i).begin(), instance.input(i).end());
      if (seeds.renewed()) renew(gemm::operation().renewal(*problem_, i, seeds), inputs[i]);
    }
    const std::span<const std::byte> a = inputs[0], b = inputs[1];
    std::vector<std::byte> out(static_cast<size_t>(problem_->find_operand("out")->span_bytes));
    const auto line = [&](std::span<const std::byte> from, DType dtype, int64_t start,
                          int64_t step) {
      Values values(static_cast<size_t>(v.k));
      for (int64_t p = 0; p < v.k; ++p)
        values[static_cast<size_t>(p)] = static_cast<float>(
            load_as_double(dtype, from.data() + (start + p * step) * size_bytes(dtype)));
      return values;
    };
    std::vector<Values> rows, columns;
    for (int64_t i = 0; i < v.m; ++i) rows.push_back(line(a, v.a, i * v.a_m, v.a_k));
    for (int64_t j = 0; j < v.n; ++j) columns.push_back(line(b, v.b, j * v.b_n, v.b_k));
    for (int64_t i = 0; i < v.m; ++i)
      for (int64_t j = 0; j < v.n; ++j)
        store_from_double(v.out, dot(rows[static_cast<size_t>(i)], columns[static_cast<size_t>(j)]),
                          out.data() + (i * v.out_m + j * v.out_n) * size_bytes(v.out));
    return out;
  }

  // Of a proof, and of two looks at timed outputs.
  ProofSummary proof(const Dot& dot) const {
    ProofSummary proof;
    proof.right = true;
    for (const InputSeeds& seeds : {InputSeeds{}, {5, 5}, {6, 6}}) {
      const Check check = instance_->check(run(dot, *instance_, seeds), seeds);
      proof.right &= check.right;
      add_line_errors(proof, check);
    }
    return proof;
  }

  std::string verdict(const Dot& dot, const StockErrors& stock = {}) const {
    const ProofSummary seen = proof(dot);
    if (!seen.right) return "wrong";
    const auto coarse = coarse_arithmetic(seen, stock, false);
    return fmt::format("{} ({:.3g} and {:.3g})", coarse ? "coarse" : "right",
                       seen.ordinary_lines.rms, seen.wide_lines.rms);
  }

  std::optional<Problem> problem_;
  std::unique_ptr<Instance> instance_;
};

using ::testing::AnyOf;
using ::testing::Eq;
using ::testing::StartsWith;

TEST_P(Coarse, HonestOrdersAreRight) {
  EXPECT_THAT(verdict(term_by_term), StartsWith("right"));
  EXPECT_THAT(verdict(products_rounded), StartsWith("right"));
  EXPECT_THAT(verdict(backwards), StartsWith("right"));
  EXPECT_THAT(verdict(in_lanes), StartsWith("right"));
  EXPECT_THAT(verdict(in_blocks), StartsWith("right"));
  EXPECT_THAT(verdict(kahan), StartsWith("right"));
  EXPECT_THAT(verdict(in_f64), StartsWith("right"));
}

// Between parts of k sums are kept in the output's type, as a product that is split along k may do.
TEST_P(Coarse, SumsInTheOutputsTypeAreNotRightBesideStockKernels) {
  const Case& c = GetParam();
  if (c.out == DType::f32 || c.k < 64) return;
  const auto in_parts = [&](const Values& a, const Values& b) {
    float sum = 0;
    for (size_t first = 0; first < a.size(); first += a.size() / 4) {
      const size_t last = std::min(a.size(), first + a.size() / 4);
      for (size_t i = first; i < last; ++i) sum = std::fma(a[i], b[i], sum);
      sum = as_type(c.out, sum);
    }
    return sum;
  };
  const ProofSummary stock = proof(in_lanes);
  // Of 124 elements chance alone allows nearly twice the mean error of stock kernels.
  if (stock.ordinary_lines.elements < 500) return;
  EXPECT_THAT(verdict(in_parts, {stock.ordinary_lines, stock.wide_lines}),
              AnyOf(Eq("wrong"), StartsWith("coarse")));
}

TEST_P(Coarse, FewerBitsThanDeclaredAreNot) {
  const Case& c = GetParam();
  const auto coarse = AnyOf(Eq("wrong"), StartsWith("coarse"));
  EXPECT_THAT(verdict(sums_in_f16), coarse);
  if (c.input == DType::bf16) return;
  EXPECT_THAT(verdict(both_of(8)), coarse) << "bf16 inside";
  EXPECT_THAT(verdict(weights_of(8)), coarse) << "weights kept in bf16";
  if (c.input == DType::f16) return;
  EXPECT_THAT(verdict(both_of(11)), coarse) << "tf32 inside";
  EXPECT_THAT(verdict(weights_of(11)), coarse) << "weights kept in 19 bits, as tf32";
  EXPECT_THAT(verdict(weights_in_fixed_point(16)), coarse);
  EXPECT_THAT(verdict(weights_of(12)), coarse) << "20 bits of a float";
  EXPECT_THAT(verdict(weights_of(16)), coarse) << "24 bits of a float";
  // The row of a GEMV has no wide line beside it: see docs/method.md.
  if (c.m == 1) return;
  EXPECT_THAT(verdict(weights_in_fixed_point(20)), coarse);
}

// Kernels that promise normwise errors, in row-major f32: the whole product at once.
using Product = std::function<Values(const Values& a, const Values& b, const gemm::View& v)>;

class CoarseNormwise : public ::testing::TestWithParam<int64_t> {
 protected:
  std::string verdict(const Product& product) const {
    const auto problem = gemm::problem(
        gemm::Shape{.m = 32, .n = 48, .k = GetParam(), .layout = "tt", .constant = {"b"}});
    const auto instance = *gemm::operation().make_instance(*problem, InputKind::uniform, 11);
    ProofSummary proof;
    proof.right = true;
    proof.error_bound = ErrorBound::normwise;
    for (const InputSeeds& seeds : {InputSeeds{}, {5, 5}, {6, 6}}) {
      std::array<Values, 2> inputs;
      for (size_t i = 0; i < inputs.size(); ++i) {
        std::vector<std::byte> bytes(instance->input(i).begin(), instance->input(i).end());
        if (seeds.renewed()) renew(gemm::operation().renewal(*problem, i, seeds), bytes);
        inputs[i].resize(bytes.size() / sizeof(float));
        std::memcpy(inputs[i].data(), bytes.data(), bytes.size());
      }
      const Values out = product(inputs[0], inputs[1], *gemm::view(*problem));
      const Check check =
          instance->check(std::as_bytes(std::span(out)), seeds, ErrorBound::normwise);
      proof.right &= check.right;
      add_line_errors(proof, check);
    }
    if (!proof.right) return "wrong";
    const auto coarse = coarse_arithmetic(proof, {}, false);
    return fmt::format("{} ({:.3g})", coarse ? "coarse" : "right", proof.ordinary_lines.rms);
  }

  static Product levels_of_strassen(int levels, int bits = 24) {
    return [=](const Values& a, const Values& b, const gemm::View& v) {
      Values out(static_cast<size_t>(v.m * v.n));
      strassen::multiply(significand(a, bits).data(), significand(b, bits).data(), out.data(), v.m,
                         v.n, v.k, levels);
      return out;
    };
  }
  static Product weights_in_fixed_point(int bits) {
    return [=](const Values& a, const Values& b, const gemm::View& v) {
      return levels_of_strassen(0)(a, fixed_point(b, bits), v);
    };
  }
};

TEST_P(CoarseNormwise, ThreeLevelsOfStrassenAreRight) {
  for (int levels = 0; levels <= 3; ++levels)
    EXPECT_THAT(verdict(levels_of_strassen(levels)), StartsWith("right")) << levels;
}

TEST_P(CoarseNormwise, FewerBitsThanDeclaredAreNot) {
  const auto coarse = AnyOf(Eq("wrong"), StartsWith("coarse"));
  EXPECT_THAT(verdict(weights_in_fixed_point(16)), coarse);
  EXPECT_THAT(verdict(levels_of_strassen(0, 8)), coarse) << "bf16 inside";
  EXPECT_THAT(verdict(levels_of_strassen(2, 11)), coarse) << "tf32 inside";
}

INSTANTIATE_TEST_SUITE_P(Depths, CoarseNormwise, ::testing::Values(64, 512, 4096, 14336));

INSTANTIATE_TEST_SUITE_P(
    Precisions, Coarse,
    ::testing::Values(
        Case{DType::f32, DType::f32, 4, 512}, Case{DType::f32, DType::f32, 4, 4096},
        Case{DType::f32, DType::f32, 4, 14336}, Case{DType::f32, DType::f32, 4, 4096, "a"},
        Case{DType::f32, DType::f32, 1, 512}, Case{DType::f32, DType::f32, 1, 4096},
        Case{DType::f32, DType::f32, 1, 14336}, Case{DType::f32, DType::f32, 4, 17},
        Case{DType::bf16, DType::bf16, 4, 512}, Case{DType::bf16, DType::f32, 4, 4096},
        Case{DType::bf16, DType::bf16, 1, 14336}, Case{DType::f16, DType::f16, 4, 512},
        Case{DType::f16, DType::f32, 4, 4096}, Case{DType::f16, DType::f16, 1, 14336},
        Case{DType::f16, DType::f32, 4, 14336}));

}  // namespace
}  // namespace assay::sweep
