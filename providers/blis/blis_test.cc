#include <cstring>
#include <dlfcn.h>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api.h"
#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/op/gemm/gemm.h"
#include "providers/blis/info.h"
#include "testing/bound_kernel.h"
#include "testing/code_sampler.h"
#include "testing/provider_conformance.h"

ASSAY_PROVIDER_CONFORMANCE(blis, {.make = assay::blis::make_provider});

namespace assay::blis {
namespace {

using testing::BoundKernel;
using ::testing::Contains;
using ::testing::ElementsAreArray;
using testing::find_kernel;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::sample_code;
using testing::share_in;

Problem problem_of(const gemm::Shape& shape) {
  auto made = gemm::problem(shape);
  EXPECT_TRUE(made) << made.error().message;
  return *made;
}

// A problem of f32 whose a has these strides; b and out are dense.
Problem with_strides(int64_t m, int64_t n, int64_t k, int64_t row, int64_t column) {
  static std::vector<float> memory(1 << 20);
  const auto view = [&](int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride) {
    return TensorView{.data = memory.data(),
                      .dtype = DType::f32,
                      .rank = 2,
                      .size = {rows, columns},
                      .stride = {row_stride, column_stride}};
  };
  auto made =
      gemm::problem({.a = view(m, k, row, column), .b = view(k, n, n, 1), .out = view(m, n, n, 1)});
  EXPECT_TRUE(made) << made.error().message;
  return *made;
}

class Blis : public ::testing::Test {
 protected:
  // The worst neighbour: an sgemm_ and a cblas_sgemm for everybody, before BLIS looks for its own.
  static void SetUpTestSuite() {
    static_cast<void>(::dlopen("libopenblas.so.0", RTLD_NOW | RTLD_GLOBAL));
  }

  void SetUp() override {
    const Availability availability = provider_->availability({});
    if (!availability.available) GTEST_SKIP() << availability.reason;
  }

  std::vector<std::shared_ptr<const Family>> families(const ProviderSettings& settings = {}) const {
    auto families = provider_->families(settings);
    EXPECT_TRUE(families) << families.error().message;
    return families.value_or(std::vector<std::shared_ptr<const Family>>());
  }

  Found found(const Problem& problem) const {
    Catalog catalog;
    for (const auto& family : families()) catalog.add("blis", ProviderRole::stock, family);
    auto found = catalog.get_kernels(problem, {.target = cpu::host_target()});
    EXPECT_TRUE(found) << found.error().message;
    return std::move(*found);
  }

  std::vector<std::string> names(const Problem& problem) const {
    std::vector<std::string> names;
    for (const Kernel& kernel : found(problem).kernels)
      names.push_back(kernel.metadata().name() +
                      (kernel.metadata().design.truth("default", false) ? " (default)" : ""));
    return names;
  }

  // Whether BLIS has no kernels for this core. Its portable ones always pack: that is no other
  // algorithm.
  bool portable() const { return provider_->availability({}).details["core"] == "generic"; }
  std::vector<std::string> offered(std::vector<std::string> all) const {
    if (portable()) std::erase_if(all, [](const auto& name) { return name.ends_with("_packed"); });
    return all;
  }

  std::unique_ptr<Provider> provider_ = make_provider();
};

TEST(BlisMissing, IsARefusalThatNamesTheFileAndThePackage) {
  const auto provider = make_provider();
  const ProviderSettings settings = {{"library", "/no/such/libblis.so.4"}};
  const Availability availability = provider->availability(settings);
  EXPECT_FALSE(availability.available);
  EXPECT_THAT(availability.reason, HasSubstr("/no/such/libblis.so.4"));
  EXPECT_THAT(availability.reason, HasSubstr("libblis4-openmp"));
  EXPECT_EQ(provider->families(settings).error().code, ErrorCode::unsupported);
}

TEST(BlisMissing, AnotherLibraryIsRefused) {
  const auto api = Api::open({{"library", "libm.so.6"}});
  ASSERT_FALSE(api);
  EXPECT_THAT(api.error().message, HasSubstr("is no BLIS"));
}

TEST_F(Blis, ReportsWhatIsMapped) {
  const Availability availability = provider_->availability({});
  EXPECT_TRUE(std::filesystem::is_regular_file(availability.path)) << availability.path;
  EXPECT_THAT(availability.version, ::testing::MatchesRegex("[0-9]+\\.[0-9]+.*"));
  EXPECT_THAT(availability.details["threading"].get<std::string>(),
              ::testing::AnyOf("openmp", "pthread", "serial"));
  EXPECT_NE(availability.details["core"], "");
}

TEST_F(Blis, RemarksThatItsKernelsArePortable) {
  EXPECT_EQ(provider_->availability({}).remark.find("portable") != std::string::npos, portable());
}

TEST_F(Blis, CallersGetCblasAndOneRowHasWaysOfItsOwn) {
  EXPECT_THAT(names(problem_of({.m = 5, .n = 8, .k = 16})),
              ElementsAreArray(offered({"sgemm (default)", "sgemm_packed"})));
  EXPECT_THAT(names(problem_of({.m = 4, .n = 8, .k = 16})),
              ElementsAreArray(offered({"sgemm (default)", "sgemm_packed"})));
  EXPECT_THAT(names(problem_of({.m = 1, .n = 8, .k = 16})),
              ElementsAreArray(offered({"sgemm (default)", "sgemm_typed", "sgemm_packed"})));
  EXPECT_THAT(names(problem_of({.m = 8, .n = 1, .k = 16, .dtype = DType::f64})),
              ElementsAreArray(offered({"dgemm (default)", "dgemm_typed", "dgemm_packed"})));
}

TEST_F(Blis, TakesStridesThatABlasCannotSay) {
  for (const auto& [m, row, column] :
       {std::array<int64_t, 3>{6, 24, 2}, {6, 3, 18}, {1, 1000, 5}, {6, 13, 1}}) {
    const Problem strided = with_strides(m, 5, 6, row, column);
    const auto kernels = found(strided).kernels;
    EXPECT_THAT(names(strided), Contains("sgemm (default)"));
    for (const Kernel& kernel : kernels) {
      auto bound = BoundKernel::make(kernel, strided);
      ASSERT_TRUE(bound) << bound.error().message;
      ASSERT_TRUE(bound->launch());
      EXPECT_TRUE(bound->check().right) << kernel.metadata().name() << " with strides " << row
                                        << " and " << column << ": " << bound->check().first_wrong;
    }
  }
}

// BLIS ends the process on these.
TEST_F(Blis, RefusesLinesThatReachIntoTheNext) {
  const auto interleaved = found(with_strides(6, 5, 6, 11, 2));
  EXPECT_THAT(interleaved.kernels, IsEmpty());
  EXPECT_THAT(interleaved.refusals.to_json().dump(), HasSubstr("operand a has strides 11 and 2"));
}

TEST_F(Blis, TakesLeadingDimensionsBeyondCblas) {
  EXPECT_THAT(names(problem_of({.m = 2, .n = 3, .k = 4, .layout = "tt", .ldb = int64_t{1} << 31})),
              Contains("sgemm (default)"));
}

TEST_F(Blis, ItsOwnCodeRuns) {
  const std::string path = provider_->availability({}).path;
  const gemm::Shape row{.m = 1, .n = 1024, .k = 1024}, square{.m = 256, .n = 256, .k = 256};
  for (const auto& [shape, name] :
       {std::pair{square, "gemm/sgemm"}, std::pair{square, "gemm/sgemm_packed"},
        std::pair{row, "gemm/sgemm"}, std::pair{row, "gemm/sgemm_typed"}}) {
    if (offered({name}).empty()) continue;
    const auto kernel = find_kernel(families(), problem_of(shape), name);
    ASSERT_TRUE(kernel) << kernel.error().message;
    auto bound = BoundKernel::make(*kernel, problem_of(shape));
    ASSERT_TRUE(bound) << bound.error().message;
    const auto samples = sample_code([&] { ASSERT_TRUE(bound->launch()); });
    EXPECT_TRUE(bound->check().right);
    EXPECT_GT(share_in(samples, path), 0.9) << name << ": " << ::testing::PrintToString(samples);
    EXPECT_EQ(bound->artifact().facts["path"], path);
  }
}

// The kernels for small problems sum along k in another order than the packing ones, so the bits
// tell which of them ran.
TEST_F(Blis, PackingIsAnotherAlgorithmForSmallProblems) {
  const Problem small = problem_of({.m = 16, .n = 64, .k = 777, .layout = "tn"});
  std::vector<std::vector<float>> outputs;
  for (const char* name : {"gemm/sgemm", "gemm/sgemm_packed", "gemm/sgemm_packed"}) {
    const auto kernel = find_kernel(families(), small, name);
    if (!kernel) GTEST_SKIP() << kernel.error().message;
    auto bound = BoundKernel::make(*kernel, small);
    ASSERT_TRUE(bound) << bound.error().message;
    ASSERT_TRUE(bound->launch());
    ASSERT_TRUE(bound->check().right);
    const auto* out = static_cast<const float*>(bound->data(2));
    outputs.emplace_back(out, out + 16 * 64);
  }
  EXPECT_NE(outputs[0], outputs[1]);
  EXPECT_EQ(outputs[1], outputs[2]);
}

TEST_F(Blis, BuildsOfOtherThreadsAreFoundByTheirPath) {
  for (const std::string& path : Api::candidates({})) {
    if (!std::filesystem::exists(path)) continue;
    const auto api = Api::open({{"library", path}});
    ASSERT_TRUE(api) << api.error().message;
    EXPECT_THAT(path, HasSubstr((*api)->details()["threading"].get<std::string>()));
  }
}

}  // namespace
}  // namespace assay::blis
