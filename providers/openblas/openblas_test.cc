#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api.h"
#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/json.h"
#include "assay/op/gemm/gemm.h"
#include "providers/openblas/info.h"
#include "testing/bound_kernel.h"
#include "testing/code_sampler.h"
#include "testing/provider_conformance.h"

ASSAY_PROVIDER_CONFORMANCE(openblas, {.make = assay::openblas::make_provider});

namespace assay::openblas {
namespace {

using testing::BoundKernel;
using ::testing::ElementsAre;
using testing::find_kernel;
using ::testing::HasSubstr;
using testing::sample_code;
using testing::share_in;

Problem problem_of(const gemm::Shape& shape) {
  auto made = gemm::problem(shape);
  EXPECT_TRUE(made) << made.error().message;
  return *made;
}

class OpenBlas : public ::testing::Test {
 protected:
  void SetUp() override {
    const Availability availability = provider_->availability({});
    if (!availability.available) GTEST_SKIP() << availability.reason;
  }

  std::vector<std::shared_ptr<const Family>> families(const ProviderSettings& settings = {}) const {
    auto families = provider_->families(settings);
    EXPECT_TRUE(families) << families.error().message;
    return families.value_or(std::vector<std::shared_ptr<const Family>>());
  }

  std::vector<std::string> names(const gemm::Shape& shape) const {
    Catalog catalog;
    for (const auto& family : families()) catalog.add("openblas", ProviderRole::stock, family);
    const auto found = catalog.get_kernels(problem_of(shape), {.target = cpu::host_target()});
    std::vector<std::string> names;
    for (const Kernel& kernel : found->kernels)
      names.push_back(kernel.metadata().name() +
                      (kernel.metadata().design.truth("default", false) ? " (default)" : ""));
    return names;
  }

  std::unique_ptr<Provider> provider_ = make_provider();
};

TEST(OpenBlasMissing, IsARefusalThatNamesTheFileAndThePackage) {
  const auto provider = make_provider();
  const ProviderSettings settings = {{"library", "/no/such/libopenblas.so.0"}};
  const Availability availability = provider->availability(settings);
  EXPECT_FALSE(availability.available);
  EXPECT_THAT(availability.reason, HasSubstr("/no/such/libopenblas.so.0"));
  EXPECT_THAT(availability.reason, HasSubstr("libopenblas0-openmp"));
  EXPECT_EQ(provider->families(settings).error().code, ErrorCode::unsupported);
  Catalog catalog;
  catalog.add(*provider, settings);
  EXPECT_THAT(catalog.missing().at("openblas"), HasSubstr("/no/such"));
}

TEST(OpenBlasMissing, AnotherLibraryIsRefused) {
  const auto api = Api::open({{"library", "libm.so.6"}});
  ASSERT_FALSE(api);
  EXPECT_THAT(api.error().message, HasSubstr("is no OpenBLAS"));
}

TEST_F(OpenBlas, ReportsWhatIsMapped) {
  const Availability availability = provider_->availability({});
  EXPECT_TRUE(std::filesystem::is_regular_file(availability.path)) << availability.path;
  EXPECT_THAT(availability.version, ::testing::MatchesRegex("0\\.[0-9]+\\.[0-9]+.*"));
  EXPECT_THAT(availability.details["threading"].get<std::string>(),
              ::testing::AnyOf("openmp", "serial", "pthread"));
  EXPECT_NE(availability.details["core"], "");
}

TEST_F(OpenBlas, FewRowsHaveARoutineOfTheirOwnAndCallersGetSgemmWithoutChoosing) {
  EXPECT_THAT(names({.m = 5, .n = 8, .k = 16}), ElementsAre("sgemm (default)"));
  EXPECT_THAT(names({.m = 2, .n = 8, .k = 16}), ElementsAre("sgemm (default)", "sgemv"));
  EXPECT_THAT(names({.m = 1, .n = 8, .k = 16}), ElementsAre("sgemm (default)", "sgemv"));
  EXPECT_THAT(names({.m = 8, .n = 1, .k = 16}), ElementsAre("sgemm (default)", "sgemv"));
  EXPECT_THAT(names({.m = 1, .n = 8, .k = 16, .dtype = DType::f64}),
              ElementsAre("dgemm (default)", "dgemv"));
}

TEST_F(OpenBlas, RefusesStridesThatABlasCannotSay) {
  std::vector<float> memory(4096);
  TensorView a{
      .data = memory.data(), .dtype = DType::f32, .rank = 2, .size = {6, 6}, .stride = {24, 2}};
  TensorView b{
      .data = memory.data(), .dtype = DType::f32, .rank = 2, .size = {6, 5}, .stride = {5, 1}};
  TensorView out{
      .data = memory.data(), .dtype = DType::f32, .rank = 2, .size = {6, 5}, .stride = {5, 1}};
  const auto strided = gemm::problem({.a = a, .b = b, .out = out});
  ASSERT_TRUE(strided) << strided.error().message;
  Catalog catalog;
  for (const auto& family : families()) catalog.add("openblas", ProviderRole::stock, family);
  const auto found = catalog.get_kernels(*strided, {.target = cpu::host_target()});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->kernels, ::testing::IsEmpty());
  EXPECT_THAT(found->refusals.to_json().dump(), HasSubstr("operand a has strides 24 and 2"));
}

TEST_F(OpenBlas, RefusesALeadingDimensionBeyond32Bits) {
  const auto wide =
      gemm::problem({.m = 2, .n = 3, .k = 4, .layout = "tt", .ldb = int64_t{1} << 31});
  ASSERT_TRUE(wide);
  EXPECT_FALSE(find_kernel(families(), *wide, "gemm/sgemm"));
  EXPECT_TRUE(find_kernel(
      families(),
      problem_of({.m = 2, .n = 3, .k = 4, .layout = "tt", .ldb = (int64_t{1} << 31) - 1}),
      "gemm/sgemm"));
}

TEST_F(OpenBlas, ItsOwnCodeRuns) {
  const std::string path = provider_->availability({}).path;
  for (const auto& [shape, name] :
       {std::pair{gemm::Shape{.m = 256, .n = 256, .k = 256}, "gemm/sgemm"},
        std::pair{gemm::Shape{.m = 1, .n = 1024, .k = 1024}, "gemv/sgemv"}}) {
    const auto kernel = find_kernel(families(), problem_of(shape), name);
    ASSERT_TRUE(kernel) << kernel.error().message;
    auto bound = BoundKernel::make(*kernel, problem_of(shape));
    ASSERT_TRUE(bound) << bound.error().message;
    const auto samples = sample_code([&] { ASSERT_TRUE(bound->launch()); });
    EXPECT_TRUE(bound->check().right);
    EXPECT_GT(share_in(samples, path), 0.9) << name << ": " << ::testing::PrintToString(samples);
  }
}

TEST_F(OpenBlas, TwoCopiesOfTheFileAreTwoMappings) {
  const std::string original = provider_->availability({}).path;
  auto folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder);
  const gemm::Shape shape{.m = 192, .n = 192, .k = 192};
  std::vector<Result<BoundKernel>> bound;
  std::vector<std::string> paths;
  for (const char* name : {"one.so", "two.so"}) {
    paths.push_back(std::filesystem::canonical(folder->path()).string() + "/" + name);
    std::filesystem::copy_file(original, paths.back());
    const auto kernel =
        find_kernel(families({{"library", paths.back()}}), problem_of(shape), "gemm/sgemm");
    ASSERT_TRUE(kernel) << kernel.error().message;
    bound.push_back(BoundKernel::make(*kernel, problem_of(shape)));
    ASSERT_TRUE(bound.back()) << bound.back().error().message;
    EXPECT_EQ(bound.back()->artifact().facts["path"], paths.back());
  }
  for (size_t i = 0; i < 2; ++i) {
    const auto samples = sample_code([&] { ASSERT_TRUE(bound[i]->launch()); });
    EXPECT_GT(share_in(samples, paths[i]), 0.9) << ::testing::PrintToString(samples);
    EXPECT_TRUE(bound[i]->check().right);
  }
}

TEST_F(OpenBlas, AnArtifactNamesItsLibraryAndIsRefusedByAnother) {
  const Problem small = problem_of({.m = 4, .n = 8, .k = 16});
  const auto kernel = find_kernel(families(), small, "gemm/sgemm");
  ASSERT_TRUE(kernel);
  auto artifact = kernel->compile(small, cpu::host_target(), {});
  ASSERT_TRUE(artifact);
  const std::string path = provider_->availability({}).path;
  EXPECT_EQ(artifact->facts["path"], path);
  EXPECT_EQ(artifact->facts["sha256"], sha256_hex(*read_file(path)));
  auto device = cpu::open({.threads = 1});
  std::vector<float> memory(1024);
  const Arguments arguments{
      small, std::vector<void*>(
                 3, memory.data() + 16 - reinterpret_cast<uintptr_t>(memory.data()) / 4 % 16)};
  EXPECT_TRUE(kernel->plan({.arguments = arguments, .artifact = *artifact, .device = **device}));
  artifact->facts["path"] = "/elsewhere/libopenblas.so.0";
  EXPECT_TRUE(kernel->plan({.arguments = arguments, .artifact = *artifact, .device = **device}))
      << "the same bytes at another place are the same library";
  artifact->facts["sha256"] = std::string(64, '0');
  const auto refused =
      kernel->plan({.arguments = arguments, .artifact = *artifact, .device = **device});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("/elsewhere/libopenblas.so.0"));
}

}  // namespace
}  // namespace assay::openblas
