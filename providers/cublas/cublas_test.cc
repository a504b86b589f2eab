// The provider against a cuBLAS that runs on the host (testing/fake_cublas).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/json.h"
#include "assay/op/gemm/gemm.h"
#include "providers/cublas/info.h"
#include "testing/bound_kernel.h"
#include "testing/fake_gpu.h"
#include "testing/provider_conformance.h"

ASSAY_PROVIDER_CONFORMANCE(cublas,
                           {.make = assay::cublas::make_provider,
                            .settings = {{"library", assay::testing::fake_library("fake_cublas")}},
                            .open_device = assay::testing::open_fake_gpu});

namespace assay::cublas {
namespace {

using testing::BoundKernel;
using testing::fake_library;
using testing::FakeControls;
using ::testing::HasSubstr;

const Target kHopper = *Target::parse("sm_90a");

Problem problem_of(const gemm::Shape& shape) {
  auto made = gemm::problem(shape);
  EXPECT_TRUE(made) << made.error().message;
  return *made;
}

class Cublas : public ::testing::Test {
 protected:
  Cublas() { catalog_.add(*provider_, settings_); }
  void TearDown() override { tell_("version=130100"); }

  Found found(const Problem& problem) const {
    auto found = catalog_.get_kernels(problem, {.target = kHopper});
    EXPECT_TRUE(found) << found.error().message;
    return *found;
  }
  // The only reason against a problem.
  RefusalCount refusal(const gemm::Shape& shape, Reason reason) const {
    const Found all = found(problem_of(shape));
    EXPECT_TRUE(all.kernels.empty());
    EXPECT_EQ(all.refusals.total(), 1);
    for (const auto& [code, count] : all.refusals)
      if (code == reason) return count;
    ADD_FAILURE() << all.refusals.to_json().dump();
    return {};
  }

  Result<BoundKernel> bind(const gemm::Shape& shape) const {
    const Problem problem = problem_of(shape);
    const Found all = found(problem);
    EXPECT_EQ(all.kernels.size(), 1u) << all.refusals.to_json().dump();
    ASSAY_TRY(auto gpu, testing::open_fake_gpu());
    return BoundKernel::make(all.kernels.at(0), problem, 1, {}, std::move(gpu));
  }

  const ProviderSettings settings_ = {{"library", fake_library("fake_cublas")}};
  const std::unique_ptr<Provider> provider_ = make_provider();
  Catalog catalog_;
  const FakeControls controls_{"fake_cublas"};
  void (*const tell_)(const char*) = controls_.find<void(const char*)>("fake_cublas_tell");
  void (*const fail_)(const char*, int,
                      int) = controls_.find<void(const char*, int, int)>("fake_cublas_fail");
  uint64_t (*const calls_)(const char*) =
      controls_.find<uint64_t(const char*)>("fake_cublas_calls");
};

TEST_F(Cublas, AMissingOrAnotherOrAnOldLibraryIsARefusalThatSaysWhichAndWhy) {
  for (const auto& [library, why] :
       {std::pair<std::string, std::string>{"/no/such/libcublas.so.13", "No such file"},
        {"libm.so.6", "has no symbol 'cublasCreate_v2'"},
        {fake_library("fake_cublas_old"), "has no symbol 'cublasGetStatusString'"}}) {
    const ProviderSettings settings = {{"library", library}};
    const Availability availability = provider_->availability(settings);
    EXPECT_FALSE(availability.available) << library;
    EXPECT_THAT(availability.reason, HasSubstr(library));
    EXPECT_THAT(availability.reason, HasSubstr(why));
    EXPECT_THAT(availability.reason, HasSubstr("install libcublas"));
    EXPECT_EQ(provider_->families(settings).error().code, ErrorCode::unsupported);
    Catalog catalog;
    catalog.add(*provider_, settings);
    EXPECT_THAT(catalog.missing().at("cublas"), HasSubstr(library));
  }
}

TEST_F(Cublas, SaysWhatIsMappedAndItsVersion) {
  EXPECT_EQ(provider_->availability(settings_).version, "13.1.0");
  EXPECT_EQ(provider_->availability(settings_).path, fake_library("fake_cublas"));
  tell_("version=120803");
  EXPECT_EQ(provider_->availability(settings_).version, "12.8.3");
}

TEST_F(Cublas, HasOneKernelTheLibrarysOwnChoice) {
  const Found all = found(problem_of({.m = 8, .n = 16, .k = 24, .dtype = DType::f16}));
  ASSERT_EQ(all.kernels.size(), 1u);
  EXPECT_EQ(all.kernels.front().metadata().name(), "gemm_ex");
  EXPECT_TRUE(all.kernels.front().metadata().design.truth("default", false));
  const auto artifact = all.kernels.front().compile(problem_of({.m = 8, .n = 16, .k = 24}), kHopper,
                                                    CompileContext());
  ASSERT_TRUE(artifact);
  EXPECT_EQ(artifact->facts["path"], fake_library("fake_cublas"));
  EXPECT_EQ(artifact->facts["version"], "13.1.0");
  EXPECT_EQ(artifact->facts["sha256"].get<std::string>().size(), 64u);
}

TEST_F(Cublas, RefusesWhatTheCallCannotSay) {
  const gemm::Shape good{.m = 8, .n = 12, .k = 16};
  const auto with = [&](const auto& change) {
    gemm::Shape shape = good;
    change(shape);
    return shape;
  };
  EXPECT_THAT(refusal(with([](auto& shape) { shape.a = DType::f16; }), Reason::dtype).example,
              HasSubstr("does not multiply these types"));
  EXPECT_THAT(
      refusal(with([](auto& shape) { shape.accumulate = DType::f64; }), Reason::dtype).example,
      HasSubstr("does not multiply these types"));
  EXPECT_THAT(refusal(with([](auto& shape) { shape.layout = "tnn"; }), Reason::layout).example,
              HasSubstr("row-major"));
  EXPECT_THAT(refusal(with([](auto& shape) {
                        shape.a = shape.b = DType::s8;
                        shape.out = DType::s32;
                        shape.k = 18;
                      }),
                      Reason::stride)
                  .example,
              HasSubstr("not multiples of 4"));
  const auto kernels = catalog_.get_kernels(problem_of(with([](auto& shape) { shape.beta = 1; })),
                                            {.target = kHopper});
  EXPECT_TRUE(kernels->kernels.empty()) << "an addend";
}

TEST_F(Cublas, RefusesStridesWithoutLinesAndLinesThatNoIntCounts) {
  std::vector<float> memory(4096);
  const auto view = [&](int64_t rows, int64_t columns, int64_t down, int64_t right) {
    return TensorView{.data = memory.data(),
                      .dtype = DType::f32,
                      .rank = 2,
                      .size = {rows, columns},
                      .stride = {down, right}};
  };
  for (const auto& [row, column] : {std::pair<int64_t, int64_t>{24, 2}, {int64_t{1} << 31, 1}}) {
    const auto problem = gemm::problem(
        {.a = view(6, 6, row, column), .b = view(6, 5, 5, 1), .out = view(6, 5, 5, 1)});
    ASSERT_TRUE(problem) << problem.error().message;
    const Found all = found(*problem);
    EXPECT_TRUE(all.kernels.empty());
    EXPECT_THAT(all.refusals.to_json().dump(), HasSubstr("of a lie side by side"));
  }
}

TEST_F(Cublas, IsForGpusAlone) {
  const auto found = catalog_.get_kernels(problem_of({.m = 8, .n = 12, .k = 16}),
                                          {.target = *Target::parse("x86_64")});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->kernels.empty());
  EXPECT_THAT(found->refusals.to_json().dump(), HasSubstr("GPUs"));
}

TEST_F(Cublas, GivesTheLibraryTheHarnessesMemoryForEachLaunch) {
  auto bound = bind({.m = 8, .n = 12, .k = 16, .batch = 2});
  ASSERT_TRUE(bound) << bound.error().message;
  const uint64_t own = calls_("own workspace"), launched = calls_("cublas_gemm");
  for (int launch = 0; launch < 3; ++launch) ASSERT_TRUE(bound->launch());
  ASSERT_TRUE(bound->wait());
  EXPECT_TRUE(bound->check().right);
  EXPECT_EQ(calls_("cublas_gemm") - launched, 3u);
  EXPECT_EQ(calls_("own workspace"), own);
}

TEST_F(Cublas, LaunchesInTheStreamThatItIsGiven) {
  auto bound = bind({.m = 8, .n = 12, .k = 16});
  ASSERT_TRUE(bound) << bound.error().message;
  const auto& gpu = dynamic_cast<cuda::CudaDevice&>(bound->device());
  auto gate = cuda::Gate::create(gpu.driver());
  ASSERT_TRUE(gate);
  ASSERT_TRUE(gate->close(static_cast<cuda::abi::Stream>(bound->stream().native())));
  ASSERT_TRUE(bound->launch());
  EXPECT_FALSE(bound->check().right) << "it did not wait for what is ahead of it";
  gate->open();
  ASSERT_TRUE(bound->wait());
  EXPECT_TRUE(bound->check().right);
}

TEST_F(Cublas, AHandleThatCannotBeMadeSaysWhyAndIsTriedAgain) {
  fail_("cublasCreate_v2", 3, 1);
  const auto refused = bind({.m = 8, .n = 12, .k = 16});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("the resource allocation failed"));
  auto again = bind({.m = 8, .n = 12, .k = 16});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->launch());
}

TEST_F(Cublas, ACallThatFailsIsALaunchThatFails) {
  auto bound = bind({.m = 8, .n = 12, .k = 16});
  ASSERT_TRUE(bound) << bound.error().message;
  for (const auto& [entry, code] :
       {std::pair{"cublasSetStream_v2", 1}, {"cublasSetWorkspace_v2", 7}, {"cublasGemmEx", 13}}) {
    fail_(entry, code, 1);
    const Status launched = bound->launch();
    ASSERT_FALSE(launched) << entry;
    EXPECT_EQ(launched.error().code, ErrorCode::failed);
    EXPECT_THAT(launched.error().message, HasSubstr(std::to_string(code)));
    EXPECT_TRUE(bound->launch());
  }
}

}  // namespace
}  // namespace assay::cublas
