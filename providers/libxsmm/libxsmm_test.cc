#include <algorithm>
#include <filesystem>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api.h"
#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/json.h"
#include "assay/op/gemm/gemm.h"
#include "providers/libxsmm/info.h"
#include "testing/bound_kernel.h"
#include "testing/code_sampler.h"
#include "testing/provider_conformance.h"

ASSAY_PROVIDER_CONFORMANCE(libxsmm, {.make = assay::libxsmm::make_provider});

namespace assay::libxsmm {
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

class Libxsmm : public ::testing::Test {
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
    for (const auto& family : families()) catalog.add("libxsmm", ProviderRole::stock, family);
    const auto found = catalog.get_kernels(problem_of(shape), {.target = cpu::host_target()});
    std::vector<std::string> names;
    for (const Kernel& kernel : found->kernels)
      names.push_back(kernel.metadata().name() +
                      (kernel.metadata().design.truth("default", false) ? " (default)" : ""));
    return names;
  }

  static std::string_view carried() {
    for (const EmbeddedFile& file : embedded_files())
      if (file.name == "libxsmm.so") return file.content;
    return {};
  }

  std::unique_ptr<Provider> provider_ = make_provider();
};

TEST(LibxsmmMissing, IsARefusalThatNamesTheFile) {
  const auto provider = make_provider();
  const Availability availability = provider->availability({{"library", "/no/such/libxsmm.so.1"}});
  EXPECT_FALSE(availability.available);
  EXPECT_THAT(availability.reason, HasSubstr("/no/such/libxsmm.so.1"));
}

TEST(LibxsmmMissing, AnotherLibraryIsRefused) {
  const auto api = Api::open({{"library", "libm.so.6"}});
  ASSERT_FALSE(api);
  EXPECT_THAT(api.error().message, HasSubstr("is no libxsmm 1.17"));
}

TEST_F(Libxsmm, SaysWhatItCarries) {
  const Availability availability = provider_->availability({});
  EXPECT_THAT(availability.version, HasSubstr("1.17"));
  EXPECT_THAT(availability.path, HasSubstr("libxsmm"));
  EXPECT_NE(availability.details["target"], "unknown");
}

// Nothing of it can stand in for another library's function, nor does the program start with it.
TEST_F(Libxsmm, ItsSymbolsStayInside) {
  if (carried().empty()) GTEST_SKIP() << "a shared library is used";
  const auto library = DynamicLibrary::open_bytes("libxsmm.so", carried());
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_TRUE(library->symbol("libxsmm_smmdispatch"));
  for (const char* hidden : {"sgemm_", "dgemm_", "sgemv_", "libxsmm_finalize", "libxsmm_malloc"})
    EXPECT_FALSE(library->symbol(hidden)) << hidden;
  EXPECT_FALSE(std::filesystem::exists(fmt::format("/tmp/.libxsmm.{}", ::getuid())));
}

TEST_F(Libxsmm, SmallProblemsAreItsOwnAndLargeOnesAreTiled) {
  EXPECT_THAT(names({.m = 64, .n = 64, .k = 64, .layout = "tt"}),
              ElementsAre("sgemm (default)", "tiles_64x512", "tiles_512x64", "tiles_copied_64x512",
                          "tiles_copied_512x64"));
  EXPECT_THAT(names({.m = 64, .n = 65, .k = 64, .layout = "tt", .constant = {"b"}}),
              ElementsAre("tiles_64x512", "tiles_512x64", "tiles_copied_64x512",
                          "tiles_copied_512x64", "tiles_prepared_64x512"));
  // The library's code does not transpose b; copying does.
  EXPECT_THAT(names({.m = 64, .n = 64, .k = 64, .layout = "tn"}),
              ElementsAre("tiles_copied_64x512", "tiles_copied_512x64"));
}

TEST_F(Libxsmm, LargeProblemsAreRefusedByTheCallWithTheReason) {
  const auto kernel = find_kernel(
      families(), problem_of({.m = 65, .n = 64, .k = 64, .layout = "tt"}), "gemm/sgemm");
  ASSERT_FALSE(kernel);
  EXPECT_THAT(kernel.error().message, HasSubstr("another BLAS"));
}

TEST_F(Libxsmm, Bf16IsTakenInPairs) {
  gemm::Shape shape{.m = 5,
                    .n = 70,
                    .k = 600,
                    .a = DType::bf16,
                    .b = DType::bf16,
                    .out = DType::f32,
                    .layout = "tn",
                    .constant = {"b"}};
  const auto api = Api::open({});
  ASSERT_TRUE(api);
  if (!(*api)->has_bf16()) GTEST_SKIP() << "no AVX-512";
  EXPECT_THAT(names(shape),
              ElementsAre("tiles_copied_64x512", "tiles_copied_512x64", "tiles_prepared_64x512"));
  shape.k = 601;
  EXPECT_THAT(names(shape), ::testing::IsEmpty());
  shape.k = 600;
  shape.lda = 607;
  EXPECT_THAT(names(shape), ::testing::IsEmpty());
}

// More than one tile in every direction, and a remainder in each.
TEST_F(Libxsmm, TilesWithRemaindersOnOneAndManyThreads) {
  for (const DType type : {DType::f32, DType::f64, DType::bf16}) {
    for (const char* layout : {"tt", "tn", "ttn", "nnn"}) {
      const Problem problem = problem_of({.m = 150,
                                          .n = 1100,
                                          .k = 1106,
                                          .batch = 2,
                                          .a = type,
                                          .b = type,
                                          .out = type == DType::f64 ? DType::f64 : DType::f32,
                                          .layout = layout,
                                          .constant = {"b"}});
      Catalog catalog;
      for (const auto& family : families()) catalog.add("libxsmm", ProviderRole::stock, family);
      const auto found = catalog.get_kernels(problem, {.target = cpu::host_target()});
      ASSERT_TRUE(found);
      for (const Kernel& kernel : found->kernels) {
        for (const int threads : {1, 3}) {
          auto bound = BoundKernel::make(kernel, problem, threads);
          ASSERT_TRUE(bound) << bound.error().message;
          ASSERT_TRUE(bound->launch());
          const Check check = bound->check();
          EXPECT_TRUE(check.right) << kernel.metadata().name() << " on " << layout << " "
                                   << to_string(type) << ": " << check.first_wrong;
        }
      }
    }
  }
}

// Few columns: rows are what threads share.
TEST_F(Libxsmm, AColumnIsSharedByRows) {
  const Problem problem = problem_of({.m = 700, .n = 3, .k = 100, .layout = "tt"});
  const auto kernel = find_kernel(families(), problem, "tiles/tiles_64x512");
  ASSERT_TRUE(kernel) << kernel.error().message;
  for (const int threads : {1, 2, 5}) {
    auto bound = BoundKernel::make(*kernel, problem, threads);
    ASSERT_TRUE(bound) << bound.error().message;
    ASSERT_TRUE(bound->launch());
    EXPECT_TRUE(bound->check().right) << bound->check().first_wrong;
  }
}

// Code that it made, which belongs to no file; in the calls of libxsmm_gemm also the library's own.
TEST_F(Libxsmm, ItsOwnCodeRuns) {
  const auto api = Api::open({});
  ASSERT_TRUE(api);
  const std::string path = library_of(reinterpret_cast<const void*>((*api)->sgemm)).value_or("");
  EXPECT_NE(path, "");
  const gemm::Shape small{.m = 64, .n = 64, .k = 64, .layout = "tt"},
      large{.m = 128, .n = 512, .k = 512, .layout = "tt", .constant = {"b"}};
  for (const auto& [shape, name] :
       {std::pair{small, "gemm/sgemm"}, std::pair{large, "tiles/tiles_64x512"},
        std::pair{large, "tiles/tiles_prepared_64x512"}}) {
    const auto kernel = find_kernel(families(), problem_of(shape), name);
    ASSERT_TRUE(kernel) << kernel.error().message;
    auto bound = BoundKernel::make(*kernel, problem_of(shape));
    ASSERT_TRUE(bound) << bound.error().message;
    const auto samples = sample_code([&] { ASSERT_TRUE(bound->launch()); });
    EXPECT_TRUE(bound->check().right);
    EXPECT_GT(share_in(samples, "") + share_in(samples, path), 0.9)
        << name << ": " << ::testing::PrintToString(samples);
    EXPECT_GT(share_in(samples, ""), 0.5) << name << ": " << ::testing::PrintToString(samples);
  }
}

// As a distribution with a shared library has it: what the program carries, as a file.
TEST_F(Libxsmm, ASharedLibraryServesAsWell) {
  if (carried().empty()) GTEST_SKIP() << "a shared library is used";
  auto folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder);
  const std::string path = std::filesystem::canonical(folder->path()).string() + "/libxsmm.so.1";
  ASSERT_TRUE(write_file_atomic(path, carried()));
  const gemm::Shape shape{.m = 16, .n = 32, .k = 24, .layout = "tt"};
  const auto kernel = find_kernel(families({{"library", path}}), problem_of(shape), "gemm/sgemm");
  ASSERT_TRUE(kernel) << kernel.error().message;
  auto bound = BoundKernel::make(*kernel, problem_of(shape));
  ASSERT_TRUE(bound) << bound.error().message;
  ASSERT_TRUE(bound->launch());
  EXPECT_TRUE(bound->check().right);
  EXPECT_EQ(bound->artifact().facts["path"], path);
  EXPECT_EQ(bound->artifact().facts["sha256"], sha256_hex(carried()));
}

}  // namespace
}  // namespace assay::libxsmm
