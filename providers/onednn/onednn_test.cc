#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api.h"
#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/subprocess.h"
#include "assay/op/gemm/gemm.h"
#include "providers/onednn/info.h"
#include "testing/bound_kernel.h"
#include "testing/code_sampler.h"
#include "testing/provider_conformance.h"

namespace {

// The library that is found, or the one that ASSAY_TEST_ONEDNN names: distributions have one major
// version each, and both are to be tested somewhere.
assay::ProviderSettings tested_library() {
  const char* path = std::getenv("ASSAY_TEST_ONEDNN");
  return path == nullptr ? assay::ProviderSettings() : assay::ProviderSettings{{"library", path}};
}

}  // namespace

ASSAY_PROVIDER_CONFORMANCE(onednn,
                           {.make = assay::onednn::make_provider, .settings = tested_library()});

namespace assay::onednn {
namespace {

using testing::BoundKernel;
using ::testing::ElementsAre;
using testing::find_kernel;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Problem problem_of(const gemm::Shape& shape) {
  auto made = gemm::problem(shape);
  EXPECT_TRUE(made) << made.error().message;
  return *made;
}

class OneDnn : public ::testing::Test {
 protected:
  void SetUp() override {
    const Availability availability = provider_->availability(tested_library());
    if (!availability.available) GTEST_SKIP() << availability.reason;
  }

  std::vector<std::shared_ptr<const Family>> families() const {
    auto families = provider_->families(tested_library());
    EXPECT_TRUE(families) << families.error().message;
    return families.value_or(std::vector<std::shared_ptr<const Family>>());
  }

  std::vector<std::string> names(const gemm::Shape& shape) const {
    Catalog catalog;
    catalog.add(*provider_, tested_library());
    const auto found = catalog.get_kernels(problem_of(shape), {.target = cpu::host_target()});
    std::vector<std::string> names;
    for (const Kernel& kernel : found->kernels)
      names.push_back(kernel.metadata().name() +
                      (kernel.metadata().design.truth("default", false) ? " (default)" : ""));
    return names;
  }

  std::unique_ptr<Provider> provider_ = make_provider();
};

TEST(OneDnnMissing, IsARefusalThatNamesTheFileAndThePackage) {
  const auto provider = make_provider();
  const Availability availability = provider->availability({{"library", "/no/such/libdnnl.so.2"}});
  EXPECT_FALSE(availability.available);
  EXPECT_THAT(availability.reason, HasSubstr("/no/such/libdnnl.so.2"));
  EXPECT_THAT(availability.reason, HasSubstr("libdnnl2"));
}

TEST(OneDnnMissing, AnotherLibraryIsRefused) {
  const auto api = Api::open({{"library", "libm.so.6"}});
  ASSERT_FALSE(api);
  EXPECT_THAT(api.error().message, HasSubstr("is no oneDNN"));
}

// A library with one function, which says that it is of a version nobody knows here.
TEST(OneDnnMissing, AnotherMajorVersionIsRefusedWithBothNumbers) {
  auto folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder);
  ASSERT_TRUE(write_file_atomic(
      folder->file("old.c"),
      "struct version { int major, minor, patch; const char* hash; unsigned cpu, gpu; };\n"
      "const struct version* dnnl_version(void) {\n"
      "  static const struct version v = {1, 8, 3, \"\", 2, 0};\n  return &v;\n}\n"));
  const auto built = run_command({.argv = {"cc", "-shared", "-fPIC", "-o",
                                           folder->file("libdnnl.so.1"), folder->file("old.c")},
                                  .env = {"PATH=/usr/local/bin:/usr/bin:/bin"}},
                                 {});
  if (!built || !built->status.success()) GTEST_SKIP() << "no C compiler";
  const auto api = Api::open({{"library", folder->file("libdnnl.so.1")}});
  ASSERT_FALSE(api);
  EXPECT_THAT(api.error().message,
              HasSubstr("is oneDNN 1.8.3; this provider knows the C interfaces "
                        "of 2.x and 3.x"));
}

TEST_F(OneDnn, ReportsWhatIsMapped) {
  const Availability availability = provider_->availability(tested_library());
  EXPECT_TRUE(std::filesystem::is_regular_file(availability.path)) << availability.path;
  EXPECT_THAT(availability.version, ::testing::MatchesRegex("[23]\\.[0-9]+\\.[0-9]+"));
  EXPECT_THAT(availability.details["threading"].get<std::string>(),
              ::testing::AnyOf("openmp", "serial"));
}

TEST_F(OneDnn, WeightsArePreparedOnlyWhereTheyAreConstant) {
  EXPECT_THAT(names({.m = 4, .n = 8, .k = 16}), ElementsAre("matmul (default)", "sgemm"));
  EXPECT_THAT(names({.m = 4, .n = 8, .k = 16, .constant = {"b"}}),
              ElementsAre("matmul (default)", "matmul_prepared", "sgemm"));
  EXPECT_THAT(names({.m = 4, .n = 8, .k = 16, .dtype = DType::f64}), IsEmpty());
}

// Which inputs have a fast implementation is the processor's affair; what is refused says so.
TEST_F(OneDnn, OtherTypesAreOfferedOrRefusedWithTheLibrarysReason) {
  for (const auto& [in, out] : {std::pair{DType::bf16, DType::f32},
                                {DType::bf16, DType::bf16},
                                {DType::f16, DType::f32},
                                {DType::f16, DType::f16},
                                {DType::s8, DType::s32}}) {
    const Problem shape = problem_of({.m = 4, .n = 8, .k = 16, .a = in, .b = in, .out = out});
    const auto kernel = find_kernel(families(), shape, "matmul/matmul");
    if (kernel)
      RecordProperty(std::string(to_string(in)) + "_" + std::string(to_string(out)), "offered");
    else
      EXPECT_THAT(kernel.error().message, HasSubstr("oneDNN"));
  }
}

TEST_F(OneDnn, SumsOfBytesAreOfferedWhereTheyAreExact) {
  gemm::Shape shape{.m = 4,
                    .n = 32,
                    .k = 1025,
                    .a = DType::s8,
                    .b = DType::s8,
                    .out = DType::s32,
                    .layout = "tt"};
  EXPECT_FALSE(find_kernel(families(), problem_of(shape), "matmul/matmul"));
  shape.k = 1024;
  const auto kernel = find_kernel(families(), problem_of(shape), "matmul/matmul");
  if (!kernel) GTEST_SKIP() << kernel.error().message;
  auto bound = BoundKernel::make(*kernel, problem_of(shape));
  ASSERT_TRUE(bound) << bound.error().message;
  // The largest sum there is, and one below it.
  auto* a = static_cast<int8_t*>(bound->data(0));
  auto* b = static_cast<int8_t*>(bound->data(1));
  std::fill(a, a + 4 * 1024, static_cast<int8_t>(-128));
  std::fill(b, b + 1024 * 32, static_cast<int8_t>(-128));
  a[1024] = 127;  // (1, 0).
  ASSERT_TRUE(bound->launch());
  const auto* out = static_cast<const int32_t*>(bound->data(2));
  EXPECT_EQ(out[0], 16777216);
  EXPECT_EQ(out[32], 16777216 - 128 * 255);
}

// The BLAS-like call sums in s32: sums far beyond what f32 holds, as large as k allows.
TEST_F(OneDnn, LongSumsOfBytesAreExactInTheCallForThem) {
  const gemm::Shape shape{.m = 3,
                          .n = 40,
                          .k = 40000,
                          .batch = 2,
                          .a = DType::s8,
                          .b = DType::s8,
                          .out = DType::s32,
                          .layout = "tn"};
  const auto kernel = find_kernel(families(), problem_of(shape), "gemm_s8s8s32/gemm_s8s8s32");
  if (!kernel) {
    EXPECT_THAT(kernel.error().message, HasSubstr("need a processor with VNNI"));
    GTEST_SKIP() << kernel.error().message;
  }
  EXPECT_THAT(names(shape), ElementsAre("gemm_s8s8s32"));
  auto bound = BoundKernel::make(*kernel, problem_of(shape));
  ASSERT_TRUE(bound) << bound.error().message;
  auto* a = static_cast<int8_t*>(bound->data(0));
  auto* b = static_cast<int8_t*>(bound->data(1));
  std::fill(a, a + 2 * 3 * 40000, static_cast<int8_t>(-128));
  std::fill(b, b + 2 * 40 * 40000, static_cast<int8_t>(-128));
  a[0] = 127;
  ASSERT_TRUE(bound->launch());
  const auto* out = static_cast<const int32_t*>(bound->data(2));
  EXPECT_EQ(out[0], 40000 * 16384 - 128 * 255);
  EXPECT_EQ(out[40], 40000 * 16384);
  EXPECT_EQ(out[2 * 3 * 40 - 1], 40000 * 16384);
}

TEST_F(OneDnn, ScalarsAreForSgemmAlone) {
  EXPECT_THAT(names({.m = 4, .n = 8, .k = 16, .alpha = 2}), ElementsAre("sgemm"));
  EXPECT_THAT(names({.m = 4, .n = 8, .k = 16, .beta = 2}), ElementsAre("sgemm"));
}

// Where the code runs: the library's own, or what it made at run time; no other BLAS, though one
// with an sgemm_ and cblas_sgemm of its own is mapped where there is one.
TEST_F(OneDnn, ItsOwnCodeRuns) {
  static_cast<void>(DynamicLibrary::open("libopenblas.so.0"));
  const std::string path = provider_->availability(tested_library()).path;
  const gemm::Shape shape{.m = 256, .n = 256, .k = 256, .constant = {"b"}};
  for (const char* name : {"matmul/matmul", "matmul/matmul_prepared", "sgemm/sgemm"}) {
    const auto kernel = find_kernel(families(), problem_of(shape), name);
    ASSERT_TRUE(kernel) << kernel.error().message;
    auto bound = BoundKernel::make(*kernel, problem_of(shape));
    ASSERT_TRUE(bound) << bound.error().message;
    const auto samples = testing::sample_code([&] { ASSERT_TRUE(bound->launch()); });
    EXPECT_TRUE(bound->check().right);
    EXPECT_GT(testing::share_in(samples, path) + testing::share_in(samples, ""), 0.9)
        << name << ": " << ::testing::PrintToString(samples);
    EXPECT_EQ(bound->artifact().facts["path"], path);
  }
}

TEST_F(OneDnn, PreparingTakesMemoryForAllOfB) {
  const Problem weights = problem_of({.m = 8, .n = 256, .k = 128, .constant = {"b"}});
  const auto kernel = find_kernel(families(), weights, "matmul/matmul_prepared");
  ASSERT_TRUE(kernel) << kernel.error().message;
  auto bound = BoundKernel::make(*kernel, weights);
  ASSERT_TRUE(bound) << bound.error().message;
  EXPECT_GE(bound->plan().prepared_bytes(), 256u * 128u * sizeof(float));
  ASSERT_TRUE(bound->launch());
  EXPECT_TRUE(bound->check().right);
}

}  // namespace
}  // namespace assay::onednn
