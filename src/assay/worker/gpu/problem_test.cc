// A problem on a GPU, against a driver that runs on the host (testing/fake_cuda).
#include "assay/worker/gpu/problem.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/dynamic_library.h"
#include "assay/kernel/device_code/bind.h"
#include "assay/kernel/testing/toy_family.h"
#include "assay/op/gemm/gemm.h"
#include "assay/op/rmsnorm/rmsnorm.h"

namespace assay::sweep {
namespace {

using ::testing::ElementsAre;

std::string fake_driver_path() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libfake_cuda.so")
      .string();
}

class GpuProblemTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("FAKE_CUDA_PROFILE", profile_.c_str(), 1);  // Read when the driver is first opened.
    auto driver = cuda::Driver::open(fake_driver_path());
    ASSERT_TRUE(driver) << driver.error().message;
    auto library = DynamicLibrary::open(fake_driver_path(), {.deep_bind = false});
    ASSERT_TRUE(library);
    ASSERT_TRUE(library->load("fake_cuda_set_launch_ns", set_launch_ns_));
    ASSERT_TRUE(library->load("fake_cuda_calls", calls_));
    const auto gpus = cuda::list_gpus(**driver);
    ASSERT_TRUE(gpus);
    auto device = cuda::open(*driver, gpus->front());
    ASSERT_TRUE(device) << device.error().message;
    device_ = std::move(*device);
    for (const char* name : {"gemm", "gemm_no_wait", "add_norm", "assay_produce", "assay_consume"})
      set_launch_ns_(name, 1000);
  }

  void load(std::vector<std::string> constant, InputKind kind = InputKind::uniform) {
    gemm::Shape shape{.m = 3, .n = 5, .k = 7, .layout = "tn"};
    shape.constant = std::move(constant);
    auto problem = gemm::problem(shape);
    ASSERT_TRUE(problem) << problem.error().message;
    load(*problem, gemm::operation(), kind);
  }

  void load(const Problem& problem, const Operation& operation, InputKind kind) {
    problem_ = problem;
    auto instance = operation.make_instance(*problem_, kind, 4);
    ASSERT_TRUE(instance);
    instance_ = std::move(*instance);
    std::vector<std::vector<MappedFile>> instances(1);
    for (size_t i = 0; i < problem_->operands().size(); ++i) {
      if (problem_->operands()[i].access == Access::write) {
        instances[0].emplace_back();
        continue;
      }
      auto memory = instance_->input_file(i);
      ASSERT_TRUE(memory);
      auto mapped = MappedFile::map_read_only(memory->get());
      ASSERT_TRUE(mapped);
      instances[0].push_back(std::move(*mapped));
    }
    auto gpu = GpuProblem::create(*problem_, *device_, std::move(instances), 9);
    ASSERT_TRUE(gpu) << gpu.error().message;
    gpu_ = std::move(*gpu);
  }

  // A kernel whose only step is that function of the fake driver's.
  Kernel kernel(const std::string& function, bool dependent,
                ProblemRule rule = testing::gemm_rule(),
                std::vector<std::string> sizes = {"m", "n", "k"}) const {
    const auto pointers = static_cast<int>(rule.operands.size());
    auto groups = testing::toy_groups(std::move(rule));
    groups[0].traits.dependent_launch = dependent;
    auto family = std::make_shared<testing::ToyFamily>("toy", groups);
    family->bind = [function, pointers, sizes](const Binding& binding,
                                               std::vector<Step>& steps) -> Status {
      const std::string code = "fake " + function;
      using Argument = ArgumentValue;
      std::vector<Argument> values;
      for (int place = 0; place < pointers; ++place)
        values.push_back({.name = "pointer", .kind = Argument::Kind::pointer, .place = place});
      for (const std::string& size : sizes)
        values.push_back({.name = size,
                          .kind = Argument::Kind::integer,
                          .integer = binding.problem.dimension(size)});
      ASSAY_TRY(
          auto step,
          device_code::bind(binding.device, std::as_bytes(std::span(code.c_str(), code.size() + 1)),
                            function, {}, values));
      steps.push_back(std::move(step));
      return {};
    };
    return Kernel(family, KernelMetadata(groups[0].traits, Design()));
  }

  Check check(const HandedOut& output, const InputSeeds& seeds = {}) const {
    EXPECT_FALSE(output.gpu) << "nobody asked for memory of the GPU";
    auto mapped = MappedFile::map_read_only(output.file.get());
    EXPECT_TRUE(mapped);
    return instance_->check(mapped->bytes(), seeds);
  }
  Check check(const TimedOutput& timed) const {
    EXPECT_NE(timed.launch, 0u);
    return check(timed.output, {.set = set_seed(kKey, timed.set), .launch = timed.launch});
  }
  Status make_rotation(const measure::Condition& condition) {
    return gpu_->make_rotation(condition, kKey);
  }

  measure::Condition condition(measure::Spacing spacing,
                               measure::Launch launch = measure::Launch::plain) const {
    return {problem_->has_constant() ? measure::Cache::cold_weights : measure::Cache::cold, spacing,
            launch};
  }

  static constexpr uint64_t kKey = 31;
  const std::string profile_ = ::testing::TempDir() + "gpu_problem_test_launches.txt";
  std::unique_ptr<cuda::CudaDevice> device_;
  std::optional<Problem> problem_;
  std::unique_ptr<Instance> instance_;
  std::unique_ptr<GpuProblem> gpu_;
  void (*set_launch_ns_)(const char*, uint64_t) = nullptr;
  uint64_t (*calls_)(const char*) = nullptr;
};

TEST_F(GpuProblemTest, AKernelThatDoesNotWaitForItsInputsIsWrong) {
  load({"b"});
  const auto honest = gpu_->prove(kernel("gemm", true), {}, 0, false);
  ASSERT_TRUE(honest) << honest.error().message;
  EXPECT_EQ(honest->launches, 2);
  EXPECT_TRUE(check(honest->output).right);
  EXPECT_FALSE(honest->second) << "the late launch gave the same bits";
  EXPECT_FALSE(honest->inputs_changed);

  // Launched where its inputs are there, it is as right as any other.
  const auto alone = gpu_->prove(kernel("gemm_no_wait", false), {}, 0, true);
  ASSERT_TRUE(alone);
  EXPECT_TRUE(check(alone->output).right);
  EXPECT_FALSE(alone->second);
  const auto cheat = gpu_->prove(kernel("gemm_no_wait", true), {}, 0, false);
  ASSERT_TRUE(cheat) << cheat.error().message;
  EXPECT_TRUE(check(cheat->output).right);
  ASSERT_TRUE(cheat->second);
  EXPECT_FALSE(check(*cheat->second).right);
  EXPECT_FALSE(cheat->inputs_changed) << "the inputs are whole again";
}

TEST_F(GpuProblemTest, AKernelThatChangesAnInputIsSeenWhileItIsProvenAndWhileItIsTimed) {
  load({"b"});
  const auto proven = gpu_->prove(kernel("gemm_spoils_b", false), {}, 0, false);
  ASSERT_TRUE(proven) << proven.error().message;
  EXPECT_TRUE(check(proven->output).right);
  EXPECT_TRUE(proven->inputs_changed);

  load({"b"});
  ASSERT_TRUE(make_rotation(condition(measure::Spacing::back_to_back)));
  EXPECT_TRUE(gpu_->inputs_intact());
  const auto opened = gpu_->open(kernel("gemm_spoils_b", false), {});
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_TRUE(gpu_->burst(opened->handle, 1, 5));
  EXPECT_FALSE(gpu_->inputs_intact());
}

TEST_F(GpuProblemTest, WithoutConstantsEitherInputMayBeTheLateOne) {
  load({});
  const uint64_t before = calls_("cuLaunchKernelEx");
  const auto honest = gpu_->prove(kernel("gemm", true), {}, 0, false);
  ASSERT_TRUE(honest) << honest.error().message;
  EXPECT_TRUE(check(honest->output).right);
  EXPECT_EQ(calls_("cuLaunchKernelEx") - before, 1u + 2 * 3 + 2 + 2 + 3)
      << "two chains of three, a look at each input and output, and at zones that were written";
}

TEST_F(GpuProblemTest, ALinkOfAChainIsItsKernelAndOurTwo) {
  load({"b"});
  set_launch_ns_("gemm", 10'000);
  set_launch_ns_("assay_produce", 2000);
  set_launch_ns_("assay_consume", 3000);
  for (const auto launch : {measure::Launch::plain, measure::Launch::graph}) {
    ASSERT_TRUE(make_rotation(condition(measure::Spacing::chain, launch)));
    const auto opened = gpu_->open(kernel("gemm", false), {});
    ASSERT_TRUE(opened) << opened.error().message;
    const auto burst = gpu_->burst(opened->handle, 8, 77);
    ASSERT_TRUE(burst) << burst.error().message;
    EXPECT_EQ(burst->launches, 8);
    EXPECT_NEAR(static_cast<double>(burst->ns), 8 * 15'000, 10);
    const uint64_t launched = calls_("cuLaunchKernelEx");
    const auto bare = gpu_->burst(process::kBareLinks, 16, 77);
    ASSERT_TRUE(bare) << bare.error().message;
    EXPECT_EQ(calls_("cuLaunchKernelEx") - launched, 17u * 3 + 1)
        << "two kernels a link, whose activations and cache are as a kernel would find them";
    EXPECT_EQ(bare->launches, 16);
    EXPECT_NEAR(static_cast<double>(bare->ns), 16 * 5000, 10);
    // The producer wrote what the kernel read, and it is new; so it was before the bare links.
    for (uint64_t choice = 0; choice < 9; ++choice) {
      const auto output = gpu_->timed_output(opened->handle, choice);
      ASSERT_TRUE(output);
      EXPECT_TRUE(check(*output).right);
    }
    EXPECT_TRUE(gpu_->inputs_intact());
    EXPECT_EQ(gpu_->find_trespass_beside_inputs(), "");
    EXPECT_EQ(calls_("cuGraphLaunch") > 0, launch == measure::Launch::graph);
  }
}

TEST_F(GpuProblemTest, InATimedChainWhoDoesNotWaitReadsOldActivations) {
  load({"b"});
  ASSERT_TRUE(make_rotation(condition(measure::Spacing::chain)));
  for (const bool dependent : {false, true}) {
    const auto opened = gpu_->open(kernel("gemm_no_wait", dependent), {});
    ASSERT_TRUE(opened);
    ASSERT_TRUE(gpu_->burst(opened->handle, 4, 5));
    const auto output = gpu_->timed_output(opened->handle, 0);
    ASSERT_TRUE(output);
    EXPECT_EQ(check(*output).right, !dependent);
  }
}

TEST_F(GpuProblemTest, BackToBackAndIsolatedHaveNothingBetween) {
  load({"b"});
  for (const auto spacing : {measure::Spacing::back_to_back, measure::Spacing::isolated})
    for (const auto launch : {measure::Launch::plain, measure::Launch::graph}) {
      ASSERT_TRUE(make_rotation(condition(spacing, launch)));
      const auto opened = gpu_->open(kernel("gemm", true), {});
      ASSERT_TRUE(opened);
      const auto burst = gpu_->burst(opened->handle, 8, 5);
      ASSERT_TRUE(burst) << burst.error().message;
      EXPECT_EQ(burst->launches, spacing == measure::Spacing::isolated ? 1 : 8);
      EXPECT_NEAR(static_cast<double>(burst->ns), 1000.0 * burst->launches, 10);
      const auto output = gpu_->timed_output(opened->handle, 3);
      ASSERT_TRUE(output);
      EXPECT_TRUE(check(*output).right);
      EXPECT_FALSE(gpu_->burst(process::kBareLinks, 8, 5)) << "there are no links";
    }
}

TEST_F(GpuProblemTest, WarmIsOneSetOfOperandsOverAndOver) {
  load({});
  for (const auto spacing : {measure::Spacing::back_to_back, measure::Spacing::chain}) {
    const uint64_t copies = calls_("cuMemcpyHtoD_v2");
    ASSERT_TRUE(make_rotation({measure::Cache::warm, spacing, measure::Launch::plain}));
    EXPECT_LT(calls_("cuMemcpyHtoD_v2") - copies, 200u) << "and what a producer writes from";
    const auto opened = gpu_->open(kernel("gemm", false), {});
    ASSERT_TRUE(opened) << opened.error().message;
    for (int turn = 0; turn < 3; ++turn) {
      const auto burst = gpu_->burst(opened->handle, 8, 5);
      ASSERT_TRUE(burst) << burst.error().message;
      // Where no producer writes activations between, a burst is one launch.
      EXPECT_EQ(burst->launches, spacing == measure::Spacing::chain ? 8 : 1);
      for (uint64_t choice = 0; choice < 9; ++choice) {
        const auto output = gpu_->timed_output(opened->handle, choice);
        ASSERT_TRUE(output);
        EXPECT_TRUE(check(*output).right);
      }
      EXPECT_TRUE(gpu_->inputs_intact());
    }
  }
}

// What another burst left in the GPU's cache would be paid for by this one.
TEST_F(GpuProblemTest, TheCacheIsClearedBeforeABurstsActivationsAreMadeUnlessTheyAreCold) {
  const auto functions_of_a_burst = [&](std::vector<std::string> constant, measure::Cache cache) {
    load(std::move(constant));
    EXPECT_TRUE(make_rotation({cache, measure::Spacing::back_to_back}));
    const auto opened = gpu_->open(kernel("gemm", false), {});
    EXPECT_TRUE(opened);
    std::ifstream lines(profile_);
    lines.ignore(std::numeric_limits<std::streamsize>::max());
    lines.clear();
    EXPECT_TRUE(device_->driver()->profile(true));
    EXPECT_TRUE(gpu_->burst(opened ? opened->handle : 0, 2, 5));
    EXPECT_TRUE(device_->driver()->profile(false));
    std::vector<std::string> functions;
    for (std::string line; std::getline(lines, line);) functions.push_back(line);
    return functions;
  };
  EXPECT_THAT(functions_of_a_burst({"b"}, measure::Cache::cold_weights),
              ElementsAre("assay_consume", "assay_renew", "assay_renew", "assay_renew", "gemm",
                          "gemm", "gemm"));
  EXPECT_THAT(functions_of_a_burst({}, measure::Cache::cold),
              ElementsAre("assay_renew", "assay_renew", "assay_renew", "assay_renew", "assay_renew",
                          "assay_renew", "assay_consume", "gemm", "gemm", "gemm"))
      << "both operands";
  EXPECT_THAT(
      functions_of_a_burst({}, measure::Cache::warm),
      ElementsAre("assay_renew", "assay_renew", "gemm", "assay_renew", "assay_renew", "gemm"))
      << "the launch that warms them has others";
}

TEST_F(GpuProblemTest, WhatIsReadAndWrittenIsNewAtEachLaunch) {
  load(*rmsnorm::problem({.m = 3, .n = 40, .residual = DType::f32, .constant = {"w"}}),
       rmsnorm::operation(), InputKind::uniform);
  ProblemRule rule{.operation = "rmsnorm"};
  for (const char* role : {"x", "w", "out", "residual"})
    rule.operands.push_back({.role = role, .dtypes = {DType::f32}});
  for (const bool dependent : {false, true}) {
    const Kernel added = kernel("add_norm", dependent, rule, {"m", "n"});
    const auto proven = gpu_->prove(added, {}, 0, true);
    ASSERT_TRUE(proven) << proven.error().message;
    EXPECT_TRUE(check(proven->output).right) << check(proven->output).first_wrong;
    EXPECT_FALSE(proven->second) << "the second launch found the same numbers";
    EXPECT_FALSE(proven->inputs_changed);
    for (const auto cache : {measure::Cache::cold_weights, measure::Cache::warm})
      for (const auto spacing : {measure::Spacing::back_to_back, measure::Spacing::chain}) {
        ASSERT_TRUE(make_rotation({cache, spacing, measure::Launch::plain}));
        const auto opened = gpu_->open(added, {});
        ASSERT_TRUE(opened) << opened.error().message;
        for (int turn = 0; turn < 3; ++turn) {
          ASSERT_TRUE(gpu_->burst(opened->handle, 8, 5));
          for (uint64_t choice = 0; choice < 9; ++choice) {
            const auto output = gpu_->timed_output(opened->handle, choice);
            ASSERT_TRUE(output);
            EXPECT_TRUE(check(*output).right) << check(*output).first_wrong;
          }
          EXPECT_TRUE(gpu_->inputs_intact());
        }
      }
  }
}

TEST_F(GpuProblemTest, WhatIsAllConstantCannotBeChained) {
  load({"a", "b"});
  const auto refused = make_rotation(condition(measure::Spacing::chain));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace assay::sweep
