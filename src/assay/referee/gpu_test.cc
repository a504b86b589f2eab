// The referee's comparisons on a GPU against those on the host: the fake driver's, and in gpu_test
// a real one.
#include "assay/referee/gpu.h"

#include <cmath>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/random.h"
#include "assay/referee/gpu_code.h"
#include "testing/device_code.h"
#include "testing/fake_gpu.h"
#include "testing/naive_gemm.h"
#include "testing/small_problems.h"
#include "testing/test_gpu.h"

namespace assay::sweep {
namespace {

using gemm::testing::get;
using gemm::testing::put;
using gemm::testing::run;
using ::testing::HasSubstr;

// What is said of the output of one timed launch, and of the same with 3 added to one element.
struct TimedOutput {
  std::vector<std::byte> output;
  Check right, off_by_three;
  std::string place;  // Of that element.
};

class RefereeGpuTest : public ::testing::Test {
 protected:
  void SetUp() override { open_gpu(RefereeGpu::kMultiplicationsOfALook); }

  void open_gpu(double multiplications_of_a_look) {
    auto device = testing::open_test_gpu();
    if (!device && !testing::test_gpu_is_fake()) GTEST_SKIP() << device.error().message;
    ASSERT_TRUE(device) << device.error().message;
    auto gpu = RefereeGpu::open(std::move(*device), multiplications_of_a_look);
    ASSERT_TRUE(gpu) << gpu.error().message;
    gpu_ = std::move(*gpu);
  }

  Check check(const Instance& instance, std::span<const std::byte> output,
              const InputSeeds& seeds = {}, ErrorBound bound = ErrorBound::elementwise) {
    const auto kept = gpu_->keep(output);
    EXPECT_TRUE(kept) << kept.error().message;
    const auto& own = dynamic_cast<const CalculatedInstance&>(instance);
    const auto check = own.check_on(*gpu_, (*kept)->data(), seeds, bound);
    EXPECT_TRUE(check) << check.error().message;
    return check ? *check : Check{};
  }

  void look_at_timed_outputs(
      const std::function<void(const Instance& instance, const TimedOutput& timed)>& look);

  // On the GPU whatever is wrong on the host is, with the same sentence; and no less.
  void compare(const Instance& instance, const std::vector<std::byte>& output) {
    for (const ErrorBound bound : kErrorBounds) compare(instance, output, bound);
  }
  void compare(const Instance& instance, const std::vector<std::byte>& output, ErrorBound bound) {
    SCOPED_TRACE(to_string(bound));
    const Check gpu = check(instance, output, {}, bound), host = instance.check(output, {}, bound);
    EXPECT_EQ(gpu.within_normwise, host.within_normwise);
    if (host.compared == 0) {  // Left out.
      EXPECT_EQ(gpu.method, host.method);
      EXPECT_EQ(gpu.compared, 0);
      return;
    }
    EXPECT_EQ(gpu.right, host.right) << gpu.first_wrong << host.first_wrong;
    EXPECT_EQ(gpu.wrong, host.wrong);
    EXPECT_EQ(gpu.first_wrong, host.first_wrong);
    EXPECT_EQ(gpu.elements, host.elements);
    EXPECT_EQ(gpu.compared, gpu.elements);
    EXPECT_THAT(gpu.method, HasSubstr("every element"));
    if (!host.right) return;
    // Sums of float64 depend on their order, and there they are what is looked at.
    const bool wide = instance.problem().find_operand("out")->dtype == DType::f64;
    const double slack = wide ? 0.02 : 1e-6;
    EXPECT_NEAR(gpu.max_error, host.max_error, slack + 0.01 * host.max_error);
    EXPECT_NEAR(gpu.mean_error, host.mean_error, slack + 0.01 * host.mean_error);
    EXPECT_NEAR(gpu.smallest_visible, host.smallest_visible, 1e-9 * host.smallest_visible);
    if (wide) return;
    EXPECT_EQ(gpu.ordinary_lines.elements, host.ordinary_lines.elements);
    EXPECT_NEAR(gpu.ordinary_lines.root(), host.ordinary_lines.root(), 1e-3);
  }

  std::unique_ptr<RefereeGpu> gpu_;
};

TEST_F(RefereeGpuTest, SaysWhatTheHostSaysOfEveryKindOfInput) {
  for (const Problem& problem : gemm::testing::small_problems()) {
    for (const InputKind kind : gemm::operation().useful_kinds(problem, ErrorBound::normwise)) {
      const auto made = gemm::operation().make_instance(problem, kind, 3);
      ASSERT_TRUE(made) << made.error().message;
      const auto derived = (*made)->derive(17);
      ASSERT_TRUE(derived);
      for (const Instance* instance : {made->get(), derived->get()}) {
        SCOPED_TRACE(problem.signature() + " " + std::string(to_string(kind)));
        std::vector<std::byte> output = run(*instance);
        compare(*instance, output);
        const int64_t i = problem.dimension("m") - 1, j = problem.dimension("n") / 2;
        const double value = get(problem, "out", output, 0, i, j);
        put(problem, "out", output, 0, i, j, std::isfinite(value) ? value * 1.5 + 7 : 1);
        compare(*instance, output);
      }
    }
  }
}

constexpr InputSeeds kSeeds{.set = 3, .launch = 5};

// Of three launches of each small problem; none is taken for that of another launch.
void RefereeGpuTest::look_at_timed_outputs(
    const std::function<void(const Instance&, const TimedOutput&)>& look) {
  for (const Problem& problem : gemm::testing::small_problems()) {
    if (problem.dimension("k") < 8) continue;
    SCOPED_TRACE(problem.signature());
    const auto instance = gemm::operation().make_instance(problem, InputKind::uniform, 3);
    ASSERT_TRUE(instance) << instance.error().message;
    for (uint64_t launch = 1; launch < 4; ++launch) {
      const InputSeeds seeds{.set = 9, .launch = launch};
      std::vector<std::byte> output = run(**instance, seeds);
      TimedOutput timed{output, check(**instance, output, seeds), {}, {}};
      EXPECT_TRUE(timed.right.right) << timed.right.first_wrong;
      EXPECT_FALSE(check(**instance, output, {9, launch + 10}).right);
      const int64_t i = problem.dimension("m") / 2, j = problem.dimension("n") - 1;
      put(problem, "out", output, 0, i, j, get(problem, "out", output, 0, i, j) + 3);
      timed.off_by_three = check(**instance, output, seeds);
      timed.place = fmt::format("out[0,{},{}] = ", i, j);
      look(**instance, timed);
    }
  }
}

TEST_F(RefereeGpuTest, TimedOutputsAreComparedElementByElement) {
  look_at_timed_outputs([&](const Instance& instance, const TimedOutput& timed) {
    EXPECT_EQ(timed.right.compared, timed.right.elements);
    EXPECT_FALSE(check(instance, timed.output).right);
    EXPECT_EQ(timed.off_by_three.wrong, 1) << timed.off_by_three.first_wrong;
    EXPECT_THAT(timed.off_by_three.first_wrong, HasSubstr(timed.place));
  });
}

// Off by less than the largest magnitudes of whole operands allow, and by more than the element's
// own: right if the kernel promises no more, of all of an output and of a part of it.
TEST_F(RefereeGpuTest, TimedOutputsAreJudgedByTheBoundThatTheirKernelPromises) {
  for (const double most : {RefereeGpu::kMultiplicationsOfALook, 0.0}) {
    open_gpu(most);
    const auto problem = gemm::problem(gemm::Shape{.m = 40, .n = 30, .k = 64, .layout = "tn"});
    ASSERT_TRUE(problem) << problem.error().message;
    const auto instance = gemm::operation().make_instance(*problem, InputKind::uniform, 3);
    ASSERT_TRUE(instance) << instance.error().message;
    std::vector<std::byte> output = run(**instance, kSeeds);
    const double budget = (64.0 + 15) * 64 * 0x1p-24;  // 64 products of at most 1 (budgets.h).
    const auto off_by = [&](double share) {
      std::vector<std::byte> off = output;
      for (int64_t i = 0; i < 40; ++i)
        for (int64_t j = 0; j < 30; ++j)
          put(*problem, "out", off, 0, i, j,
              get(*problem, "out", off, 0, i, j) + (j % 2 == 0 ? share : -share) * budget);
      return off;
    };
    const Check within = check(**instance, off_by(0.9), kSeeds, ErrorBound::normwise);
    EXPECT_TRUE(within.right) << within.first_wrong;
    EXPECT_THAT(within.method, ::testing::EndsWith(", normwise"));
    EXPECT_FALSE(check(**instance, off_by(1.1), kSeeds, ErrorBound::normwise).right);
    const Check undeclared = check(**instance, off_by(0.9), kSeeds);
    EXPECT_FALSE(undeclared.right);
    EXPECT_EQ(undeclared.within_normwise, true);
    EXPECT_EQ(check(**instance, off_by(1.1), kSeeds).within_normwise, false);
  }
}

// As of problems that are too large for all of it: rows by projections, some by element.
TEST_F(RefereeGpuTest, LargeTimedOutputsAreSampledAndProjected) {
  open_gpu(0);
  look_at_timed_outputs([&](const Instance& instance, const TimedOutput& timed) {
    EXPECT_THAT(timed.right.method, HasSubstr("by 8 projections"));
    EXPECT_TRUE(check(instance, run(instance)).right);  // A proof's are compared whole.
    EXPECT_FALSE(timed.off_by_three.right);
  });
}

// Every fourth of 300 rows is compared by element, and which ones nobody knows beforehand; an error
// in any other shows where it is large beside what rounding may do to the row.
TEST_F(RefereeGpuTest, NoRowOfALargeTimedOutputIsOutOfSight) {
  open_gpu(0);
  for (const char* constant : {"b", "a"}) {
    for (const DType type : {DType::f32, DType::f16, DType::s8}) {
      const bool integers = type == DType::s8;
      gemm::Shape shape{.m = 300, .n = 300, .k = 24, .dtype = type, .layout = "tn"};
      shape.constant = {constant};
      if (integers) shape.out = DType::s32;
      const auto problem = gemm::problem(shape);
      ASSERT_TRUE(problem) << problem.error().message;
      SCOPED_TRACE(problem->signature() + " constant " + constant);
      const auto instance = gemm::operation().make_instance(*problem, InputKind::uniform, 3);
      ASSERT_TRUE(instance) << instance.error().message;
      const std::vector<std::byte> output = run(**instance, kSeeds);
      const Check right = check(**instance, output, kSeeds);
      EXPECT_TRUE(right.right) << right.first_wrong;
      EXPECT_EQ(right.compared, 75 * 300);
      EXPECT_EQ(right.elements, 300 * 300);
      for (int64_t at = 0; at < 300; at += 23) {
        for (const double error : {3.0, HUGE_VAL}) {
          if (integers && std::isinf(error)) continue;
          std::vector<std::byte> wrong = output;
          put(*problem, "out", wrong, 0, at, 299 - at,
              get(*problem, "out", wrong, 0, at, 299 - at) + error);
          const Check found = check(**instance, wrong, kSeeds);
          EXPECT_FALSE(found.right) << at;
          EXPECT_THAT(found.first_wrong,
                      ::testing::AnyOf(HasSubstr(fmt::format("out[0,{},{}] = ", at, 299 - at)),
                                       HasSubstr(fmt::format("row {} of", at)),
                                       HasSubstr(fmt::format("column {} of", 299 - at))));
          // The host's look at the same.
          EXPECT_FALSE((*instance)->check(wrong, kSeeds).right) << at;
        }
      }
    }
  }
}

TEST_F(RefereeGpuTest, AFullGpuIsNoVerdict) {
  if (!testing::test_gpu_is_fake()) GTEST_SKIP() << "a real GPU is not full on demand";
  const testing::FakeControls controls("fake_cuda");
  auto* fails = controls.find<void(const char*, int, int)>("fake_cuda_fail");
  const Problem problem = gemm::testing::small_problems().front();
  const auto instance = gemm::operation().make_instance(problem, InputKind::uniform, 3);
  ASSERT_TRUE(instance);
  const std::vector<std::byte> output = run(**instance);
  const auto kept = gpu_->keep(output);
  ASSERT_TRUE(kept);
  const auto& own = dynamic_cast<const CalculatedInstance&>(**instance);
  fails("cuMemAlloc_v2", cuda::abi::kOutOfMemory, 4);
  const auto full = own.check_on(*gpu_, (*kept)->data(), {}, ErrorBound::elementwise);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::machine) << full.error().message;
  const auto again = own.check_on(*gpu_, (*kept)->data(), {}, ErrorBound::elementwise);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->right) << again->first_wrong;
}

TEST_F(RefereeGpuTest, NothingStaysThereWhereWorkersNeedTheRoom) {
  if (!testing::test_gpu_is_fake()) GTEST_SKIP() << "a real GPU is not full on demand";
  const testing::FakeControls controls("fake_cuda");
  auto* allocated = controls.find<uint64_t()>("fake_cuda_allocated");
  const Problem problem = gemm::testing::small_problems().front();
  for (const bool full : {false, true}) {
    const auto instance = gemm::operation().make_instance(problem, InputKind::uniform, 3);
    ASSERT_TRUE(instance);
    std::shared_ptr<const Calculator::Memory> most;
    if (full) {
      const auto kept = gpu_->keep(std::vector<std::byte>((size_t{1} << 30) / 3));
      ASSERT_TRUE(kept) << kept.error().message;
      most = *kept;
    }
    const uint64_t before = allocated();
    const Check first = check(**instance, run(**instance));
    EXPECT_TRUE(first.right) << first.first_wrong;
    EXPECT_EQ(allocated() == before, full);
    const Check again = check(**instance, run(**instance));
    EXPECT_TRUE(again.right) << again.first_wrong;
  }
}

// On the GPU an operand gets the numbers that the host gives it, whatever it consists of.
TEST_F(RefereeGpuTest, RenewsOperandsAsTheHostDoes) {
  for (const Problem& problem : gemm::testing::small_problems()) {
    SCOPED_TRACE(problem.signature());
    for (size_t i = 0; i < problem.operands().size(); ++i) {
      const Operand& operand = problem.operands()[i];
      if (operand.access == Access::write) continue;
      for (const uint64_t seed : {1, 2, 77}) {
        const Renewal renewal = gemm::operation().renewal(problem, i, {seed + 5, seed});
        const auto bytes = static_cast<size_t>(operand.span_bytes);
        const auto made = gpu_->renew(renewal, bytes);
        ASSERT_TRUE(made) << made.error().message;
        std::vector<std::byte> found(bytes), expected;
        ASSERT_TRUE(gpu_->read((*made)->data(), found));
        expected = found;  // What lies between strided elements.
        renew(renewal, expected);
        EXPECT_EQ(found, expected) << operand.role;
      }
    }
  }
}

TEST(RefereeCodeTest, AssemblesForEveryGpuThatItMayMeet) {
  if (!testing::can_assemble()) GTEST_SKIP() << "no ptxas: it comes with the CUDA toolkit";
  testing::expect_assembles(referee_code);
  testing::expect_assembles(renewal_code);
}

}  // namespace
}  // namespace assay::sweep
