#include "testing/instance.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/random.h"
#include "assay/op/gemm/budget.h"
#include "assay/op/gemm/gemm.h"
#include "assay/op/gemm/renewal.h"
#include "testing/naive_gemm.h"
#include "testing/small_problems.h"

namespace assay::gemm {
namespace {

using assay::testing::instance_of;
using testing::flip;
using ::testing::HasSubstr;
using testing::Naive;
using testing::Order;
using testing::run;

Problem make(Shape shape) {
  auto made = problem(shape);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return *made;
}

std::string text(const Check& check) {
  return fmt::format("{} [{}; {} of {} compared, {} wrong, max {}, mean {}, visible {}]",
                     check.first_wrong, check.method, check.compared, check.elements, check.wrong,
                     check.max_error, check.mean_error, check.smallest_visible);
}

TEST(GemmInstanceTest, RightKernelsPassInEveryOrderOfSummation) {
  for (const Problem& problem : testing::small_problems()) {
    for (InputKind kind : operation().useful_kinds(problem)) {
      const auto instance = instance_of(problem, kind, 3);
      ASSERT_TRUE(instance);
      for (Order order :
           {Order::forward, Order::backward, Order::pairwise, Order::lanes, Order::fused}) {
        if (order == Order::fused && kind == InputKind::exact) continue;  // Same bits as forward.
        const Check check = instance->check(run(*instance, {.order = order}));
        EXPECT_TRUE(check.right) << problem.signature() << " " << to_string(kind) << " "
                                 << static_cast<int>(order) << ": " << text(check);
        EXPECT_LE(check.max_error, 1) << text(check);
        EXPECT_EQ(check.elements, check.compared) << text(check);
      }
    }
  }
}

TEST(GemmInstanceTest, DerivedInstancesHaveOtherBytesAndTheSameVerdicts) {
  for (const Problem& problem : testing::small_problems()) {
    for (InputKind kind : operation().useful_kinds(problem)) {
      const auto instance = instance_of(problem, kind, 4);
      const auto derived = *instance->derive(17);
      const auto twice = *derived->derive(18);
      const Check check = twice->check(run(*twice));
      EXPECT_TRUE(check.right) << problem.signature() << " " << to_string(kind) << ": "
                               << text(check);
      EXPECT_EQ(derived->input(0).size(), instance->input(0).size());
      if (problem.dimension("k") > 30 && kind == InputKind::uniform) {
        EXPECT_NE(std::memcmp(derived->input(0).data(), instance->input(0).data(),
                              instance->input(0).size()),
                  0);
        // What was right for one is wrong for the other.
        EXPECT_FALSE(derived->check(run(*instance)).right) << problem.signature();
      }
      std::vector<std::byte> out = run(*derived);
      const int64_t i = problem.dimension("m") - 1, j = problem.dimension("n") / 2;
      const double value = testing::get(problem, "out", out, 0, i, j);
      testing::put(problem, "out", out, 0, i, j, std::isfinite(value) ? value * 1.5 + 7 : 1);
      const Check wrong = derived->check(out);
      EXPECT_FALSE(wrong.right) << problem.signature() << " " << to_string(kind);
      EXPECT_EQ(wrong.wrong, 1) << text(wrong);
      EXPECT_THAT(wrong.first_wrong, HasSubstr(fmt::format("out[0,{},{}] = ", i, j)));
    }
  }
}

// Those are permuted in strips, side by side.
TEST(GemmInstanceTest, DerivedInstancesOfMegabytesAreWhole) {
  for (const char* layout : {"tt", "tn"}) {
    const Problem problem = make({.m = 3, .n = 1400, .k = 300, .layout = layout});
    const auto derived = *instance_of(problem, InputKind::uniform, 4)->derive(17);
    const Check check = derived->check(run(*derived));
    EXPECT_TRUE(check.right) << layout << ": " << text(check);
  }
}

TEST(GemmInstanceTest, InputsAreDeterministicAndSeedsDiffer) {
  const Problem problem = make({.m = 9, .n = 11, .k = 13, .dtype = DType::f16});
  for (InputKind kind : operation().useful_kinds(problem)) {
    const auto first = instance_of(problem, kind, 5), again = instance_of(problem, kind, 5);
    const auto other = instance_of(problem, kind, 6);
    const auto same = [&](const Instance& x, const Instance& y) {
      return std::ranges::equal(x.input(0), y.input(0)) &&
             std::ranges::equal(x.input(1), y.input(1));
    };
    EXPECT_TRUE(same(*first, *again)) << to_string(kind);
    const bool fixed = kind == InputKind::zeros || kind == InputKind::ones;
    EXPECT_EQ(same(*first, *other), fixed) << to_string(kind);
  }
}

TEST(GemmInstanceTest, GapsHoldTheFillerAndOutputsHaveNoInput) {
  const Problem problem = make({.m = 3, .n = 4, .k = 5, .layout = "tn", .lda = 8});
  const auto instance = instance_of(problem, InputKind::ones);
  const auto derived = *instance->derive(1);
  for (const Instance* each : {instance.get(), derived.get()}) {
    const auto a = each->input(0);
    ASSERT_EQ(a.size(), (2 * 8 + 5) * sizeof(float));
    float gap;
    std::memcpy(&gap, a.data() + 6 * sizeof(float), sizeof(gap));
    EXPECT_TRUE(std::isnan(gap));
    EXPECT_TRUE(each->input(2).empty());
    EXPECT_TRUE(each->input(9).empty());
  }
}

TEST(GemmInstanceTest, AKernelThatReadsPaddingIsCaught) {
  const Problem padded = make({.m = 3, .n = 4, .k = 5, .layout = "tn", .lda = 8});
  const auto instance = instance_of(padded, InputKind::uniform);
  std::vector<std::byte> out = run(*instance);
  testing::put(padded, "out", out, 0, 1, 2, std::nan(""));
  const Check check = instance->check(out);
  EXPECT_FALSE(check.right);
  EXPECT_THAT(check.first_wrong, HasSubstr("out[0,1,2] = nan, expected "));
  EXPECT_THAT(check.first_wrong, HasSubstr(" +- "));
}

TEST(GemmInstanceTest, UnwrittenTransposedAndZeroOutputsAreWrong) {
  const Problem problem = make({.m = 16, .n = 16, .k = 64, .batch = 2});
  for (InputKind kind : {InputKind::uniform, InputKind::exact, InputKind::cancellation,
                         InputKind::wide_range, InputKind::identity}) {
    const auto instance = instance_of(problem, kind);
    EXPECT_FALSE(instance->check(run(*instance, {.batches_written = 0})).right) << to_string(kind);
    EXPECT_FALSE(instance->check(run(*instance, {.batches_written = 1})).right) << to_string(kind);
    EXPECT_FALSE(instance->check(run(*instance, {.rows_written = 15})).right) << to_string(kind);
    const std::vector<std::byte> zero(run(*instance).size());
    EXPECT_FALSE(instance->check(zero).right) << to_string(kind);
    const std::vector<std::byte> out = run(*instance);
    std::vector<std::byte> transposed = out;
    for (int64_t l = 0; l < 2; ++l)
      for (int64_t i = 0; i < 16; ++i)
        for (int64_t j = 0; j < 16; ++j)
          testing::put(problem, "out", transposed, l, i, j,
                       testing::get(problem, "out", out, l, j, i));
    EXPECT_FALSE(instance->check(transposed).right) << to_string(kind);
    EXPECT_FALSE(instance->check(std::span(out).first(out.size() - 4)).right);
  }
}

TEST(GemmInstanceTest, ASkippedTailOfKIsWrong) {
  for (const Problem& problem :
       {make({.m = 8, .n = 8, .k = 127}), make({.m = 8, .n = 8, .k = 127, .dtype = DType::bf16}),
        make({.m = 8, .n = 8, .k = 127, .dtype = DType::s8}),
        make({.m = 1, .n = 64, .k = 4095, .dtype = DType::bf16})}) {
    for (int64_t skipped : {1, 3, 63}) {
      const auto instance = instance_of(problem, InputKind::exact);
      EXPECT_FALSE(instance->check(run(*instance, {.skipped_k = skipped})).right)
          << problem.signature() << " " << skipped;
    }
  }
}

// What a narrower input type makes of a value.
double to_bits(double value, int significand_bits) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, significand_bits)),
                    exponent - significand_bits);
}

TEST(GemmInstanceTest, NarrowerInputsFailTheProbes) {
  for (int64_t k : {64, 1000, 4096}) {
    const Problem problem = make({.m = 4, .n = 16, .k = k});
    for (int bits : {8, 11, 16}) {
      const Naive narrow{.input = [=](double value) { return to_bits(value, bits); }};
      for (InputKind kind : {InputKind::exact, InputKind::cancellation}) {
        // Two bf16 parts keep 16 bits: only exact integers tell, cancellation up to k of about 700.
        if (bits == 16 && kind == InputKind::cancellation) continue;
        const auto instance = instance_of(problem, kind);
        const Check check = instance->check(run(*instance, narrow));
        EXPECT_FALSE(check.right) << bits << " bits, k " << k << " " << to_string(kind)
                                  << text(check);
      }
    }
    const auto uniform = instance_of(problem, InputKind::uniform);
    const Naive bf16{.input = [](double value) { return to_bits(value, 8); }};
    EXPECT_FALSE(uniform->check(run(*uniform, bf16)).right) << k;
  }
}

TEST(GemmInstanceTest, Float32InsideFloat64FailsTheProbes) {
  const Problem problem = make({.m = 4, .n = 16, .k = 500, .dtype = DType::f64});
  const Naive narrow{.accumulate = DType::f32};
  for (InputKind kind : {InputKind::exact, InputKind::cancellation, InputKind::uniform}) {
    const auto instance = instance_of(problem, kind);
    EXPECT_FALSE(instance->check(run(*instance, narrow)).right) << to_string(kind);
  }
}

TEST(GemmInstanceTest, NarrowerAccumulatorsFailTheProbes) {
  for (DType dtype : {DType::f16, DType::bf16, DType::f32}) {
    for (DType accumulate : {DType::f16, DType::bf16}) {
      const Problem problem = make({.m = 8, .n = 16, .k = 512, .dtype = dtype});
      for (InputKind kind : {InputKind::exact, InputKind::cancellation}) {
        const auto instance = instance_of(problem, kind);
        const Check check = instance->check(run(*instance, {.accumulate = accumulate}));
        EXPECT_FALSE(check.right) << to_string(dtype) << " in " << to_string(accumulate) << " "
                                  << to_string(kind) << " " << text(check);
      }
    }
  }
}

TEST(GemmInstanceTest, OneFlippedBitAnywhereIsSeenInExactMode) {
  const CounterRandom random{99, 1};
  uint64_t draw = 0;
  // The last two are referenced in a few rows only: Freivalds must see the rest.
  for (const Problem& problem :
       {make({.m = 7, .n = 9, .k = 33}), make({.m = 7, .n = 9, .k = 64, .dtype = DType::bf16}),
        make({.m = 30, .n = 40, .k = 20, .dtype = DType::s8}),
        make({.m = 30, .n = 40, .k = 20, .batch = 2, .dtype = DType::f64, .layout = "ntn"}),
        make({.m = 2048, .n = 2053, .k = 5}),
        make({.m = 2048, .n = 2053, .k = 9, .dtype = DType::f16, .layout = "tnn"})}) {
    const auto base = instance_of(problem, InputKind::exact);
    const auto instance = *base->derive(5);
    const std::vector<std::byte> right = run(*instance);
    const Check good = instance->check(right);
    ASSERT_TRUE(good.right) << text(good);
    const DType dtype = problem.find_operand("out")->dtype;
    for (int trial = 0; trial < 5; ++trial) {
      const auto pick = [&](std::string_view name) {
        return static_cast<int64_t>(
            random.below(draw++, static_cast<uint64_t>(problem.dimension(name))));
      };
      const int64_t l = pick("l"), i = pick("m"), j = pick("n");
      if (testing::get(problem, "out", right, l, i, j) == 0) continue;  // -0 is 0, and right.
      const int bit = static_cast<int>(random.below(draw++, 8 * size_bytes(dtype)));
      std::vector<std::byte> out = right;
      flip(problem, out, l, i, j, bit);
      const Check check = instance->check(out);
      EXPECT_FALSE(check.right) << problem.signature() << " bit " << bit;
      EXPECT_EQ(check.wrong, 1);
      EXPECT_GT(check.max_error, 1);
      EXPECT_THAT(check.first_wrong, HasSubstr(fmt::format("out[{},{},{}] = ", l, i, j)));
    }
  }
}

// The smallest step of its type, at 1,000 places of each shape: all of them are found, in inputs as
// they were made and in permuted ones.
TEST(GemmInstanceTest, OneElementThatIsOffByOneUnitIsFoundWhereverItIs) {
  const CounterRandom random{7, 26};
  uint64_t draw = 0;
  for (const char* layout : {"tt", "nn"}) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::s8}) {
      for (const Shape& size : {Shape{.m = 1, .n = 300, .k = 57}, Shape{.m = 24, .n = 70, .k = 512},
                                Shape{.m = 65, .n = 33, .k = 130, .batch = 2}}) {
        Shape shape = size;
        shape.dtype = dtype;
        shape.layout = layout;
        const Problem problem = make(shape);
        const auto base = instance_of(problem, InputKind::exact, 11);
        const auto derived = *base->derive(5);
        const Instance* const instances[] = {base.get(), derived.get()};
        std::vector<std::byte> outputs[] = {run(*base), run(*derived)};
        for (int which : {0, 1}) ASSERT_TRUE(instances[which]->check(outputs[which]).right);
        int found = 0;
        for (int trial = 0; trial < 1000; ++trial) {
          const auto pick = [&](std::string_view name) {
            return static_cast<int64_t>(
                random.below(draw++, static_cast<uint64_t>(problem.dimension(name))));
          };
          const int64_t l = pick("l"), i = pick("m"), j = pick("n");
          std::vector<std::byte>& out = outputs[trial % 2];
          flip(problem, out, l, i, j, 0);
          const Check check = instances[trial % 2]->check(out);
          found += !check.right && check.wrong == 1 && check.max_error > 1;
          flip(problem, out, l, i, j, 0);
        }
        EXPECT_EQ(found, 1000) << problem.signature();
      }
    }
  }
}

TEST(GemmInstanceTest, LargeOutputsAreSampledAndGarbageBetweenTheSamplesShows) {
  const Problem problem =
      make({.m = 3000, .n = 3001, .k = 2, .dtype = DType::bf16, .out = DType::f32});
  const auto base = instance_of(problem, InputKind::uniform);
  const auto instance = *base->derive(3);
  std::vector<std::byte> out = run(*instance);
  const Check good = instance->check(out);
  EXPECT_TRUE(good.right) << text(good);
  EXPECT_LT(good.compared, good.elements);
  EXPECT_GT(good.compared, 3000 * 20);
  EXPECT_THAT(good.method, HasSubstr("rows and"));
  for (double garbage : {std::nan(""), 1e30, -HUGE_VAL}) {
    std::vector<std::byte> bad = out;
    testing::put(problem, "out", bad, 0, 1234, 567, garbage);
    EXPECT_FALSE(instance->check(bad).right) << garbage;
  }
  std::vector<std::byte> bad = out;
  for (int64_t j = 0; j < 3001; ++j) {  // A stale column is seen in the sampled rows.
    const double value = testing::get(problem, "out", out, 0, 100, j);
    testing::put(problem, "out", bad, 0, 100, j, value);
  }
  for (int64_t i = 0; i < 3000; ++i) testing::put(problem, "out", bad, 0, i, 777, 0.001);
  EXPECT_FALSE(instance->check(bad).right);
}

TEST(GemmInstanceTest, NonFiniteValuesMustPropagate) {
  const Problem problem = make({.m = 8, .n = 12, .k = 20});
  int infinities = 0;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const auto instance = instance_of(problem, InputKind::non_finite, seed);
    const std::vector<std::byte> right = run(*instance);
    ASSERT_TRUE(instance->check(right).right);
    int finite = 0, nans = 0;
    for (int64_t i = 0; i < 8; ++i) {
      for (int64_t j = 0; j < 12; ++j) {
        const double value = testing::get(problem, "out", right, 0, i, j);
        nans += std::isnan(value);
        finite += std::isfinite(value);
        if (std::isfinite(value)) continue;
        infinities += std::isinf(value);
        std::vector<std::byte> out = right;
        testing::put(problem, "out", out, 0, i, j, std::isnan(value) ? 0.5 : -value);
        EXPECT_FALSE(instance->check(out).right);
      }
    }
    EXPECT_GT(nans, 10);
    EXPECT_GT(finite, 20);
  }
  EXPECT_GT(infinities, 20);
}

TEST(GemmInstanceTest, NonFiniteInputsSparkNothingWhereInputsCannotHoldThem) {
  EXPECT_FALSE(operation().make_instance(make({.m = 2, .n = 2, .k = 2, .dtype = DType::s8}),
                                         InputKind::non_finite, 1));
  const auto odd_alpha = make({.m = 2, .n = 2, .k = 2, .alpha = 0.1});
  const auto refused = operation().make_instance(odd_alpha, InputKind::exact, 1);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("alpha"));
}

TEST(GemmInstanceTest, OutputsOfTimedLaunchesAreCheckedWithoutAReference) {
  for (const Problem& problem : testing::small_problems()) {
    const auto base = instance_of(problem, InputKind::uniform, 8);
    const auto instance = *base->derive(9);
    for (uint64_t launch : {77, 78, 79}) {
      const InputSeeds seeds{.set = 5, .launch = launch};
      const std::vector<std::byte> out = run(*instance, seeds);
      const Check check = instance->check(out, seeds);
      EXPECT_TRUE(check.right) << problem.signature() << ": " << text(check);
      EXPECT_EQ(check.elements, instance->check(out).elements);
      if (problem.dimension("k") < 8) continue;
      EXPECT_FALSE(instance->check(out, {5, launch + 100}).right) << problem.signature();
      EXPECT_FALSE(instance->check(out, {6, launch}).right) << problem.signature();
      EXPECT_FALSE(instance->check(out).right) << problem.signature();
      EXPECT_FALSE(instance->check(run(*instance), seeds).right) << problem.signature();
    }
  }
}

// What a kernel keeps of one operand set, or one launch, is of no use for another: no two elements
// at the same place are alike more often than chance has it, nor up to a sign.
TEST(GemmRenewalTest, SeedsHaveNothingInCommon) {
  for (const Problem& problem : testing::small_problems()) {
    for (size_t i = 0; i < problem.operands().size(); ++i) {
      const Operand& operand = problem.operands()[i];
      if (operand.access == Access::write || !info(operand.dtype).floating) continue;
      std::vector<std::byte> one(static_cast<size_t>(operand.span_bytes)), other(one);
      renew(operation().renewal(problem, i, {3, 3}), one);
      renew(operation().renewal(problem, i, {4, 4}), other);
      int alike = 0, elements = 0;
      for (int64_t l = 0; l < operand.sizes[0]; ++l)
        for (int64_t r = 0; r < operand.sizes[1]; ++r)
          for (int64_t c = 0; c < operand.sizes[2]; ++c) {
            const double x = testing::get(problem, operand.role, one, l, r, c);
            const double y = testing::get(problem, operand.role, other, l, r, c);
            EXPECT_TRUE(std::isfinite(x) && x != 0 && std::fabs(x) <= 1);
            alike += std::fabs(x) == std::fabs(y) ? 1 : 0;
            ++elements;
          }
      // A bf16 has some thousand sizes.
      EXPECT_LE(alike, 2 + elements / 50) << problem.signature() << " " << operand.role;
    }
  }
}

// The referee makes single elements, workers whole operands: the same numbers, and nothing between.
TEST(GemmRenewalTest, WholeOperandsHoldWhatSingleElementsAre) {
  for (const Problem& problem : testing::small_problems()) {
    for (size_t i = 0; i < problem.operands().size(); ++i) {
      const Operand& operand = problem.operands()[i];
      if (operand.access == Access::write) continue;
      const Renewal renewal = operation().renewal(problem, i, {12, 13});
      std::vector<std::byte> whole(static_cast<size_t>(operand.span_bytes), std::byte{0xff});
      std::vector<std::byte> expected = whole;
      renew(renewal, whole);
      for (int64_t l = 0; l < operand.sizes[0]; ++l)
        for (int64_t r = 0; r < operand.sizes[1]; ++r)
          for (int64_t c = 0; c < operand.sizes[2]; ++c)
            testing::put(problem, operand.role, expected, l, r, c,
                         renewed_value(renewal, {l, r, c}));
      EXPECT_EQ(whole, expected) << problem.signature() << " " << operand.role;
    }
  }
}

// A kernel that keeps b, packed or not, is wrong in every large part of the output; what it costs
// to tell it is a part of making b anew.
TEST(GemmRenewalTest, WhereBothVarySomeSignsOfBDo) {
  for (const Problem& problem : testing::small_problems()) {
    const Operand& b = problem.operands()[1];
    if (problem.has_constant() || b.span_bytes < 4096) continue;
    const auto bytes = [&](uint64_t launch) {
      std::vector<std::byte> made(static_cast<size_t>(b.span_bytes), std::byte{0xff});
      renew(operation().renewal(problem, 1, {9, launch}), made);
      return made;
    };
    std::vector<std::byte> now = bytes(0);
    for (uint64_t before = 0; before < 20; ++before) {
      const std::vector<std::byte> then = now;
      flip_again(operation().renewal(problem, 1, {9, before}), before, before + 1, now);
      EXPECT_EQ(now, bytes(before + 1)) << problem.signature();
      int changed = 0, elements = 0;
      for (int64_t l = 0; l < b.sizes[0]; ++l)
        for (int64_t p = 0; p < b.sizes[1]; ++p)
          for (int64_t j = 0; j < b.sizes[2]; ++j, ++elements) {
            const double x = testing::get(problem, "b", then, l, p, j);
            const double y = testing::get(problem, "b", now, l, p, j);
            EXPECT_EQ(std::fabs(x), std::fabs(y));
            changed += x != y ? 1 : 0;
          }
      EXPECT_GT(changed, elements / 64) << problem.signature();
    }
  }
}

// Lines at random places have magnitudes over forty binades, and so has a line that is alone.
TEST(GemmRenewalTest, EveryLaunchHasALineOfWideMagnitudes) {
  for (const char* constant : {"b", "a"}) {
    for (const int64_t lines : {1, 5, 600}) {
      const bool of_b = std::string_view(constant) == "a";
      Shape shape{.m = lines, .n = 4, .k = 3000, .dtype = DType::bf16};
      if (of_b) std::swap(shape.m, shape.n);
      shape.constant = {constant};
      const Problem problem = make(shape);
      std::set<int64_t> places;
      for (uint64_t seed = 1; seed <= 40; ++seed) {
        const Renewal renewal = operation().renewal(problem, of_b ? 1 : 0, {1, seed});
        int wide = 0;
        for (int64_t line = 0; line < lines; ++line) {
          double least = 1, most = 0;
          int small = 0;
          for (int64_t p = 0; p < 3000; ++p) {
            const double size =
                std::fabs(renewed_value(renewal, of_b ? std::array<int64_t, 3>{0, p, line}
                                                      : std::array<int64_t, 3>{0, line, p}));
            least = std::min(least, size);
            most = std::max(most, size);
            small += size < 0x1p-28 ? 1 : 0;
          }
          EXPECT_EQ(most / least > 0x1p38, renewal.is_odd(line));
          EXPECT_EQ(small, !renewal.is_odd(line) ? 0 : lines == 1 ? 3000 / 64 : 3000 - 8);
          wide += renewal.is_odd(line) ? 1 : 0;
          if (renewal.is_odd(line)) places.insert(line);
        }
        EXPECT_GE(wide, 1);
        EXPECT_LE(wide, 3);
      }
      EXPECT_GE(places.size(), lines == 1 ? 1u : lines == 5 ? 5u : 35u);
    }
  }
}

constexpr InputSeeds kSeeds{.set = 4, .launch = 5};

// One element, then a whole column, of a timed output.
TEST(GemmInstanceTest, WhatIsWrongInATimedOutputShows) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Problem problem = make({.m = 40, .n = 300, .k = 2000, .dtype = dtype});
    const auto instance = instance_of(problem, InputKind::uniform);
    const std::vector<std::byte> right = run(*instance, kSeeds);
    ASSERT_TRUE(instance->check(right, kSeeds).right) << text(instance->check(right, kSeeds));
    std::vector<std::byte> one = right;
    testing::put(problem, "out", one, 0, 17, 123,
                 testing::get(problem, "out", one, 0, 17, 123) + 2000);
    EXPECT_FALSE(instance->check(one, kSeeds).right);
    std::vector<std::byte> stale = right;
    for (int64_t i = 0; i < 40; ++i)
      for (int64_t j = 0; j < 30; ++j)
        testing::put(problem, "out", stale, 0, i, j, -testing::get(problem, "out", stale, 0, i, j));
    EXPECT_FALSE(instance->check(stale, kSeeds).right);
    for (size_t byte = 0; byte < right.size(); ++byte) stale[byte] = std::byte{0xff};
    EXPECT_FALSE(instance->check(stale, kSeeds).right) << "NaN";
  }
}

// Errors of either sign in every element, of a few budgets: a row's sum does not show them.
TEST(GemmInstanceTest, SmallErrorsAllOverATimedOutputShow) {
  const Problem problem = make({.m = 40, .n = 300, .k = 2000, .dtype = DType::bf16});
  const auto instance = instance_of(problem, InputKind::uniform);
  std::vector<std::byte> out = run(*instance, kSeeds);
  for (int64_t i = 0; i < 40; ++i)
    for (int64_t j = 0; j < 300; ++j)
      testing::put(
          problem, "out", out, 0, i, j,
          testing::get(problem, "out", out, 0, i, j) * (1 + (j % 2 == 0 ? 1 : -1) * 0x1p-7));
  EXPECT_FALSE(instance->check(out, kSeeds).right);
}

// Wherever it is: integers leave no room.
TEST(GemmInstanceTest, OneOffInATimedIntegerOutputShows) {
  const Problem problem = make({.m = 40, .n = 300, .k = 2000, .dtype = DType::s8});
  const auto instance = instance_of(problem, InputKind::uniform);
  const std::vector<std::byte> right = run(*instance, kSeeds);
  ASSERT_TRUE(instance->check(right, kSeeds).right) << text(instance->check(right, kSeeds));
  for (int64_t j = 0; j < 300; j += 23) {
    std::vector<std::byte> out = right;
    testing::put(problem, "out", out, 0, j % 40, j,
                 testing::get(problem, "out", out, 0, j % 40, j) + 1);
    EXPECT_FALSE(instance->check(out, kSeeds).right) << j;
  }
}

// A projection allows more than that where k is large.
TEST(GemmInstanceTest, AFewColumnsOfADeepTimedProductAreAllCompared) {
  const Problem problem = make({.m = 2, .n = 16, .k = 20000});
  const auto instance = instance_of(problem, InputKind::uniform);
  const std::vector<std::byte> right = run(*instance, kSeeds);
  ASSERT_TRUE(instance->check(right, kSeeds).right) << text(instance->check(right, kSeeds));
  for (int64_t j = 0; j < 16; ++j) {
    std::vector<std::byte> out = right;
    testing::put(problem, "out", out, 0, j % 2, j,
                 testing::get(problem, "out", out, 0, j % 2, j) + 3);
    EXPECT_FALSE(instance->check(out, kSeeds).right) << j;
  }
}

// -128 is where tricks with the signs of bytes go wrong.
TEST(GemmInstanceTest, BytesReachFromOneEndToTheOther) {
  const Problem problem = make({.m = 40, .n = 50, .k = 200, .dtype = DType::s8, .constant = {"b"}});
  const auto instance = instance_of(problem, InputKind::uniform);
  const auto holds_ends = [](std::span<const std::byte> bytes) {
    return std::ranges::find(bytes, std::byte{0x80}) != bytes.end() &&
           std::ranges::find(bytes, std::byte{0x7f}) != bytes.end();
  };
  for (const size_t operand : {0u, 1u}) {
    EXPECT_TRUE(holds_ends(instance->input(operand))) << operand;
    std::vector<std::byte> timed(instance->input(operand).size());
    renew(renewal_of(problem, operand, kSeeds), timed);
    EXPECT_TRUE(holds_ends(timed)) << operand << ", of a timed launch";
  }
}

// Where the largest products follow one another, who adds a few of them in 16 bits is wrong.
TEST(GemmInstanceTest, LowestBytesMeetInProofs) {
  for (const int64_t m : {1, 40}) {
    const Problem problem = make({.m = m, .n = 50, .k = 61, .dtype = DType::s8, .layout = "tn"});
    const auto instance = instance_of(problem, InputKind::uniform);
    const auto at = [](std::span<const std::byte> bytes, int64_t index) {
      return static_cast<int>(static_cast<int8_t>(bytes[static_cast<size_t>(index)]));
    };
    const auto a = instance->input(0), b = instance->input(1);
    std::vector<int32_t> right, saturating;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < 50; ++j) {
        int32_t sum = 0, narrow = 0;
        for (int64_t p = 0; p < 61; p += 2) {
          const int last = p + 1 < 61 ? at(a, i * 61 + p + 1) * at(b, j * 61 + p + 1) : 0;
          const int pair = at(a, i * 61 + p) * at(b, j * 61 + p) + last;
          sum += pair;
          narrow += std::clamp(pair, -32768, 32767);
        }
        right.push_back(sum);
        saturating.push_back(narrow);
      }
    const auto check = [&](const std::vector<int32_t>& out) {
      return instance->check(std::as_bytes(std::span(out)));
    };
    EXPECT_TRUE(check(right).right) << check(right).first_wrong;
    EXPECT_FALSE(check(saturating).right) << m;
  }
}

TEST(GemmInstanceTest, TheFirstOperandThatIsNotConstantVaries) {
  const auto first = [](std::vector<std::string> constant) {
    return operation().varied_operand(
        make({.m = 3, .n = 3, .k = 3, .constant = std::move(constant), .beta = 1}));
  };
  EXPECT_EQ(first({}), 0u);
  EXPECT_EQ(first({"a"}), 1u);
  EXPECT_EQ(first({"a", "b"}), 4u) << "c does not count";
}

TEST(GemmInstanceTest, HugeKStaysExactForNarrowAccumulators) {
  // 5000 products cannot all be non-zero: 2048 is the largest exact sum in f16.
  for (auto [m, n] : {std::pair{2, 12}, {12, 2}}) {
    const Problem problem =
        make({.m = m, .n = n, .k = 5000, .dtype = DType::f16, .accumulate = DType::f16});
    const auto instance = instance_of(problem, InputKind::exact);
    for (Order order : {Order::forward, Order::backward, Order::pairwise, Order::lanes})
      EXPECT_TRUE(instance->check(run(*instance, {.order = order})).right);
    EXPECT_FALSE(instance->check(run(*instance, {.skipped_k = 8})).right);
  }
}

TEST(GemmBudgetTest, GrowsLikeKThenLikeItsRoot) {
  const auto growth = [](int64_t k, DType dtype) {
    return budget_of(*view(make({.m = 1, .n = 1, .k = k, .dtype = dtype, .accumulate = dtype})))
        .growth;
  };
  const double u = 0x1p-24;
  EXPECT_NEAR(growth(50, DType::f32) / (50 * u), 1, 1e-4);
  EXPECT_NEAR(growth(10000, DType::f32) / (1000 * u), 1, 1e-3);
  EXPECT_NEAR(growth(50, DType::f64) / (2 * 50 * 0x1p-53), 1, 1e-9);
  EXPECT_GT(growth(1 << 20, DType::bf16), 1);
  EXPECT_TRUE(std::isfinite(growth(1 << 20, DType::bf16)));
  const Budget budget = budget_of(*view(make({.m = 1, .n = 1, .k = 9, .dtype = DType::f16})));
  EXPECT_EQ(budget.rounding, 0x1p-11);
  EXPECT_GT(allowed(budget, 0, 0), 0);
}

}  // namespace
}  // namespace assay::gemm
