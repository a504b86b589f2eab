#include "assay/op/rmsnorm/rmsnorm.h"

#include <cmath>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/random.h"
#include "assay/op/outputs.h"
#include "assay/op/proof_words.h"
#include "assay/op/rmsnorm/testing/naive_rmsnorm.h"
#include "testing/instance.h"

namespace assay::rmsnorm {
namespace {

using assay::testing::instance_of;
using testing::get;
using ::testing::HasSubstr;
using testing::Naive;
using testing::Order;
using testing::put;
using testing::run;

Problem make(const Shape& shape) {
  auto made = problem(shape);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return *made;
}

std::string text(const Check& check) {
  return fmt::format("{} [{}; {} of {} compared, {} wrong, max {}, roots {}]", check.first_wrong,
                     check.method, check.compared, check.elements, check.wrong, check.max_error,
                     check.ordinary_lines.root());
}

std::vector<Problem> small_problems() {
  auto telling = operation().telling_problems();
  EXPECT_TRUE(telling) << (telling ? "" : telling.error().message);
  return telling ? std::move(*telling) : std::vector<Problem>();
}

constexpr Order kOrders[] = {Order::forward, Order::backward, Order::lanes, Order::pairwise};

TEST(RmsnormProblem, IsMadeOfItsFieldsAgain) {
  for (const Problem& problem : small_problems()) {
    const auto again = operation().problem(problem.to_json());
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->signature(), problem.signature());
    EXPECT_EQ(again->key(), problem.key());
  }
}

TEST(RmsnormProblem, SaysWhatIsWrong) {
  const auto error_of = [](const Json& fields) {
    const auto made = operation().problem(fields);
    return made ? std::string("none") : made.error().message;
  };
  EXPECT_EQ(error_of({{"m", 2}, {"n", 3}}), "none");
  EXPECT_THAT(error_of({{"m", 2}}), HasSubstr("n: missing"));
  EXPECT_THAT(error_of({{"m", 0}, {"n", 3}}), HasSubstr("m: 0 is out of range"));
  EXPECT_THAT(error_of({{"m", 2}, {"n", 3}, {"k", 4}}), HasSubstr("k: rmsnorm has no such field"));
  EXPECT_THAT(error_of({{"m", 2}, {"n", 3}, {"dtype", "s8"}}),
              HasSubstr("s8 cannot be normalised"));
  EXPECT_THAT(error_of({{"m", 2}, {"n", 3}, {"ldx", 2}}), HasSubstr("ldx: 2 is below n = 3"));
  EXPECT_THAT(error_of({{"m", 2}, {"n", 3}, {"epsilon", 0}}), HasSubstr("epsilon: 0 is out of"));
  EXPECT_THAT(error_of({{"m", 2}, {"n", 3}, {"constant", {"x"}}}),
              HasSubstr("constant: 'x' cannot be"));
  EXPECT_THAT(error_of({{"m", 2}, {"n", 3}, {"operation", "gemm"}}),
              HasSubstr("operation: 'gemm' is not rmsnorm"));
  EXPECT_THAT(error_of({{"m", 1 << 30}, {"n", 1 << 30}}), HasSubstr("2^46 bytes"));
  EXPECT_THAT(error_of({{"m", 2}, {"n", 3}, {"residual", "s32"}}),
              HasSubstr("residual: s32 cannot be normalised"));
  EXPECT_THAT(error_of({{"m", 2}, {"n", 3}, {"ldresidual", 3}}),
              HasSubstr("ldresidual: there is no residual"));
  EXPECT_THAT(error_of({{"m", 2}, {"n", 3}, {"residual", "f64"}, {"accumulate", "f32"}}),
              HasSubstr("and residual of f64: use f64"));
}

TEST(RmsnormProblem, AResidualIsReadAndWritten) {
  const Problem problem = make({.m = 2, .n = 3, .residual = DType::f32, .ldresidual = 5});
  ASSERT_EQ(problem.operands().size(), size_t{kResidual} + 1);
  const Operand& residual = problem.operands()[kResidual];
  EXPECT_EQ(residual.role, "residual");
  EXPECT_EQ(residual.access, Access::read_write);
  EXPECT_EQ(residual.span_bytes, 4 * (5 + 3));
  EXPECT_TRUE(varies(residual));
  EXPECT_NE(problem.signature(), make({.m = 2, .n = 3}).signature());
}

TEST(RmsnormInstance, RightKernelsPassInEveryOrderOfSummation) {
  for (const Problem& problem : small_problems()) {
    for (const InputKind kind : operation().useful_kinds(problem)) {
      const auto instance = instance_of(problem, kind, 3);
      ASSERT_TRUE(instance);
      for (const Order order : kOrders) {
        for (const bool twice : {false, true}) {
          const Check check =
              instance->check(run(*instance, {.order = order, .rounds_twice = twice}));
          EXPECT_TRUE(check.right) << problem.signature() << " " << to_string(kind) << " "
                                   << static_cast<int>(order) << twice << ": " << text(check);
          EXPECT_LE(check.max_error, 1) << text(check);
          EXPECT_EQ(check.compared, check.elements) << text(check);
          const int64_t outputs = static_cast<int64_t>(problem.operands().size()) - kOut;
          EXPECT_EQ(check.elements, outputs * problem.dimension("m") * problem.dimension("n"));
        }
      }
    }
  }
}

TEST(RmsnormInstance, RightKernelsPassOnTimedLaunches) {
  for (const Problem& problem : small_problems()) {
    const auto instance = instance_of(problem, InputKind::uniform);
    for (uint64_t launch = 1; launch < 5; ++launch) {
      const InputSeeds seeds{.set = 7, .launch = launch};
      const Check check = instance->check(run(*instance, {.rounds_twice = true}, seeds), seeds);
      EXPECT_TRUE(check.right) << problem.signature() << ": " << text(check);
    }
    // An output of another launch, and of another operand set.
    const InputSeeds seeds{.set = 7, .launch = 9};
    const auto of = [&](const InputSeeds& other) {
      return instance->check(run(*instance, {}, other), seeds).right;
    };
    EXPECT_FALSE(of({.set = 7, .launch = 8})) << problem.signature();
    EXPECT_EQ(of({.set = 8, .launch = 9}), !problem.has_constant()) << problem.signature();
    EXPECT_FALSE(instance->check(run(*instance), seeds).right) << problem.signature();
  }
}

TEST(RmsnormInstance, DerivedInstancesHaveOtherInputsAndAreRightByThem) {
  for (const Problem& problem : small_problems()) {
    for (const InputKind kind : operation().useful_kinds(problem)) {
      const auto base = instance_of(problem, kind);
      const auto derived = base->derive(5), again = base->derive(6);
      ASSERT_TRUE(derived && again);
      const auto twice = (*derived)->derive(7);
      ASSERT_TRUE(twice);
      for (const Instance* one : {derived->get(), twice->get()}) {
        const Check check = one->check(run(*one));
        EXPECT_TRUE(check.right) << problem.signature() << " " << to_string(kind) << text(check);
      }
      if (problem.dimension("m") < 5 || problem.dimension("n") < 5) continue;
      if (kind == InputKind::zeros || kind == InputKind::ones) continue;
      EXPECT_FALSE(base->check(run(**derived)).right) << problem.signature() << to_string(kind);
      EXPECT_FALSE((*again)->check(run(**derived)).right) << problem.signature();
    }
  }
}

TEST(RmsnormInstance, OneWrongElementIsFoundWhereverItIs) {
  constexpr int kPlaces = 1000;
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const Problem problem = make({.m = 61, .n = 137, .dtype = dtype});
    const auto instance = instance_of(problem, InputKind::uniform);
    const InputSeeds timed{.set = 3, .launch = 4};
    auto proven = run(*instance), looked_at = run(*instance, {}, timed);
    ASSERT_TRUE(instance->check(proven).right);
    ASSERT_TRUE(instance->check(looked_at, timed).right);
    const CounterRandom random{11, static_cast<uint64_t>(dtype)};
    // Two steps of the type: the least that two roundings cannot explain.
    const double steps = dtype == DType::f32 ? 0x1p-15 : 3 * epsilon(dtype);
    for (uint64_t place = 0; place < kPlaces; ++place) {
      const auto i = static_cast<int64_t>(random.below(2 * place, 61));
      const auto j = static_cast<int64_t>(random.below(2 * place + 1, 137));
      for (auto [out, seeds] : {std::pair(&proven, InputSeeds()), {&looked_at, timed}}) {
        const double right = get(problem, *out, i, j);
        if (std::fabs(right) < 0x1p-10) continue;
        put(problem, *out, i, j, right * (1 + steps));
        const Check check = instance->check(*out, seeds);
        EXPECT_FALSE(check.right) << to_string(dtype) << " " << i << " " << j;
        EXPECT_THAT(check.first_wrong, HasSubstr(fmt::format("out[{},{}]", i, j)));
        put(problem, *out, i, j, right);
      }
    }
  }
}

TEST(RmsnormInstance, ElementsNearZeroAndNotWrittenAreWrong) {
  const Problem problem = make({.m = 9, .n = 33});
  const auto instance = instance_of(problem, InputKind::uniform);
  const Check check = instance->check(run(*instance, {.rows_written = 8}));
  EXPECT_FALSE(check.right);
  EXPECT_EQ(check.wrong, 33) << text(check);
  EXPECT_FALSE(instance->check(std::vector<std::byte>(8)).right);
  auto out = run(*instance);
  put(problem, out, 3, 4, std::nan(""));
  EXPECT_THAT(instance->check(out).first_wrong, HasSubstr("out[3,4] = nan, expected"));
}

// Models' own definitions normalise what they wrote back, kernels the sum that they have at hand.
TEST(RmsnormInstance, WithAResidualTheSumIsNormalisedAsItIsOrAsItWasWritten) {
  using Sum = Naive::Sum;
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    for (const DType residual : {dtype, DType::f32}) {
      const Problem problem =
          make({.m = 64, .n = 2048, .dtype = dtype, .residual = residual, .constant = {"w"}});
      for (const InputKind kind : operation().useful_kinds(problem)) {
        const auto instance = instance_of(problem, kind);
        for (const Sum sum : {Sum::exact, Sum::as_written, Sum::both}) {
          // The root of one and products of the other: an out that is wider than residual shows it.
          if (sum == Sum::both && size_bytes(residual) < size_bytes(dtype)) continue;
          const Check check = instance->check(run(*instance, {.sum_with_residual = sum}));
          EXPECT_TRUE(check.right) << problem.signature() << to_string(kind)
                                   << static_cast<int>(sum) << ": " << text(check);
          EXPECT_LT(check.ordinary_lines.root(), 1.25) << problem.signature() << text(check);
        }
      }
    }
  }
}

TEST(RmsnormInstance, OneWrongElementOfAResidualIsFoundWhereverItIs) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const Problem problem =
        make({.m = 31, .n = 67, .dtype = dtype, .residual = dtype, .ldresidual = 71});
    const auto instance = instance_of(problem, InputKind::uniform);
    const InputSeeds timed{.set = 3, .launch = 4};
    auto proven = run(*instance), looked_at = run(*instance, {}, timed);
    const CounterRandom random{13, static_cast<uint64_t>(dtype)};
    for (uint64_t place = 0; place < 300; ++place) {
      const auto i = static_cast<int64_t>(random.below(2 * place, 31));
      const auto j = static_cast<int64_t>(random.below(2 * place + 1, 67));
      for (auto [outputs, seeds] : {std::pair(&proven, InputSeeds()), {&looked_at, timed}}) {
        const double right = get(problem, *outputs, i, j, kResidual);
        if (std::fabs(right) < 0x1p-10) continue;
        put(problem, *outputs, i, j, right * (1 + 2 * epsilon(dtype)), kResidual);
        const Check check = instance->check(*outputs, seeds);
        EXPECT_FALSE(check.right) << to_string(dtype) << " " << i << " " << j;
        EXPECT_EQ(check.operand, "residual");
        EXPECT_THAT(check.first_wrong, HasSubstr(fmt::format("residual[{},{}]", i, j)));
        put(problem, *outputs, i, j, right, kResidual);
      }
    }
    EXPECT_TRUE(instance->check(proven).right);
  }
}

TEST(RmsnormInstance, AResidualLeftOutOrNotWrittenBackIsFound) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    const Problem problem = make({.m = 8, .n = 256, .dtype = dtype, .residual = dtype});
    const auto instance = instance_of(problem, InputKind::uniform);
    EXPECT_TRUE(instance->check(run(*instance)).right);
    const Check kept = instance->check(
        run(*instance, {.sum_with_residual = Naive::Sum::exact, .writes_back = false}));
    EXPECT_THAT(kept.first_wrong, HasSubstr("residual[0,")) << text(kept);
    // All but those where x is below half of a step of residual's.
    EXPECT_GT(kept.wrong, 8 * 256 * 9 / 10) << text(kept);
    EXPECT_FALSE(instance->check(run(*instance, {.adds = false})).right);
    // What a second launch into the same buffer leaves there.
    auto twice = run(*instance);
    for (int64_t j = 0; j < 256; ++j)
      put(problem, twice, 3, j, 2 * get(problem, twice, 3, j, kResidual), kResidual);
    EXPECT_EQ(instance->check(twice).operand, "residual");
  }
}

// The kinds on which something wrong passes, of those that are useful.
std::set<InputKind> blind_kinds(const Problem& problem, const Naive& how) {
  std::set<InputKind> blind;
  for (const InputKind kind : operation().useful_kinds(problem)) {
    const auto instance = instance_of(problem, kind);
    if (instance->check(run(*instance, how)).right) blind.insert(kind);
  }
  return blind;
}

TEST(RmsnormInstance, WrongKernelsAreFoundInEveryType) {
  const size_t kinds = operation().useful_kinds(make({.m = 2, .n = 2})).size();
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    const Problem problem = make({.m = 32, .n = 1024, .dtype = dtype});
    EXPECT_EQ(blind_kinds(problem, {}).size(), kinds);
    EXPECT_LT(blind_kinds(problem, {.weighs = false}).size(), kinds) << to_string(dtype);
    EXPECT_LT(blind_kinds(problem, {.skipped_columns = 1}).size(), kinds) << to_string(dtype);
    EXPECT_LT(blind_kinds(problem, {.rows_written = 31}).size(), kinds) << to_string(dtype);
    const auto narrow = [](DType to) { return [to](double value) { return round_to(to, value); }; };
    EXPECT_LT(blind_kinds(problem, {.sum = narrow(DType::bf16)}).size(), kinds) << to_string(dtype);
    EXPECT_LT(blind_kinds(problem, {.sum = narrow(DType::f16)}).size(), kinds) << to_string(dtype);
  }
}

// A narrow output hides a root that is slightly wrong from a look at single elements.
TEST(RmsnormInstance, RowsAsAWholeShowWhatElementsHide) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const Problem problem = make({.m = 8, .n = 16384, .dtype = dtype});
    const auto instance = instance_of(problem, InputKind::uniform);
    for (const bool twice : {false, true})
      EXPECT_TRUE(instance->check(run(*instance, {.rounds_twice = twice})).right);
    for (const double sign : {-1.0, 1.0}) {
      const double factor = 1 + sign * epsilon(dtype) / 5;
      const Check check = instance->check(run(*instance, {.root_factor = factor}));
      EXPECT_EQ(check.wrong, 8) << text(check);
      EXPECT_THAT(check.first_wrong, HasSubstr("row 0 as a whole")) << text(check);
    }
  }
}

// In units of sums one by one: what coarse_arithmetic (record/coarse.h) judges by.
TEST(RmsnormInstance, RootsAreAsGoodAsSumsOneByOneAre) {
  constexpr double kMostOrdinary = 1.25;
  for (const int64_t n : {1, 16, 1000, 8192}) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
      const Problem problem = make({.m = 200, .n = n, .dtype = dtype});
      const auto instance = instance_of(problem, InputKind::uniform);
      for (const Order order : kOrders) {
        for (const bool twice : {false, true}) {
          const Check check =
              instance->check(run(*instance, {.order = order, .rounds_twice = twice}));
          EXPECT_EQ(check.ordinary_lines.elements, 200);
          EXPECT_LT(check.ordinary_lines.root(), kMostOrdinary)
              << n << to_string(dtype) << static_cast<int>(order) << twice;
        }
      }
      if (dtype != DType::f32 || n < 1000) continue;
      const Check coarse = instance->check(
          run(*instance, {.input = [](double value) { return round_to(DType::bf16, value); }}));
      EXPECT_GT(coarse.ordinary_lines.root(), 2 * kMostOrdinary) << text(coarse);
    }
  }
}

TEST(RmsnormInstance, EveryImpostorIsFound) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    for (const Shape& shape : {Shape{.m = 16, .n = 512},
                               {.m = 1, .n = 64},
                               {.m = 40, .n = 3},
                               {.m = 16, .n = 512, .residual = DType::f32}}) {
      Shape own = shape;
      own.dtype = dtype;
      if (own.residual) own.residual = dtype;
      const Problem problem = make(own);
      for (size_t i = 0; i < operation().impostors().size(); ++i) {
        int wrong = 0, tried = 0;
        for (const InputKind kind : operation().useful_kinds(problem)) {
          const auto instance = instance_of(problem, kind);
          std::vector<std::byte> out(OutputPlaces::of(problem).bytes);
          if (!operation().pretend(i, *instance, out)) continue;
          ++tried;
          wrong += instance->check(out).right ? 0 : 1;
        }
        EXPECT_TRUE(tried > 0 || !own.residual) << operation().impostors()[i];
        if (tried == 0) continue;
        EXPECT_GT(wrong, 0) << operation().impostors()[i] << " " << problem.signature();
      }
    }
  }
}

TEST(RmsnormOperation, SaysWhatALaunchIsWorth) {
  const Work work = operation().work(make({.m = 3, .n = 5, .dtype = DType::bf16, .w = DType::f32}));
  EXPECT_EQ(work.flops, 4 * 15 + 9);
  EXPECT_EQ(work.bytes_read, 2 * 15 + 4 * 5);
  EXPECT_EQ(work.bytes_written, 2 * 15);
  const Work added =
      operation().work(make({.m = 3, .n = 5, .dtype = DType::bf16, .residual = DType::f32}));
  EXPECT_EQ(added.flops, 5 * 15 + 9);
  EXPECT_EQ(added.bytes_read, 2 * 15 + 2 * 5 + 4 * 15);
  EXPECT_EQ(added.bytes_written, 2 * 15 + 4 * 15);
}

TEST(RmsnormOperation, VariesXAlone) {
  EXPECT_EQ(operation().varied_operand(make({.m = 3, .n = 5, .constant = {"w"}})), size_t{kX});
}

TEST(RmsnormOperation, AFewRowsStandForMany) {
  const Problem large = make({.m = 100000, .n = 4096, .dtype = DType::bf16, .constant = {"w"}});
  const auto small = operation().fewer_outputs(large, 0x1p27);
  ASSERT_TRUE(small);
  EXPECT_EQ(small->dimension("n"), 4096);
  EXPECT_EQ(small->dimension("m"), 512);
  EXPECT_TRUE(small->has_constant());
  const auto added =
      operation().fewer_outputs(make({.m = 100000, .n = 4096, .residual = DType::bf16}), 0x1p27);
  ASSERT_TRUE(added);
  EXPECT_NE(added->find_operand("residual"), nullptr);
  const Problem few = make({.m = 3, .n = 4096});
  EXPECT_EQ(operation().fewer_outputs(few, 0x1p27)->signature(), few.signature());
}

}  // namespace
}  // namespace assay::rmsnorm
