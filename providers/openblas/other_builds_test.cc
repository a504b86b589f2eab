// Builds of OpenBLAS that distributions do not have: with bf16, with 64-bit integers, with a gemv
// that reads its output. A stand-in of forty lines has their interface.

#include <cmath>
#include <cstring>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api.h"
#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/subprocess.h"
#include "assay/op/gemm/gemm.h"
#include "providers/openblas/info.h"
#include "testing/bound_kernel.h"

namespace assay::openblas {
namespace {

using testing::BoundKernel;
using testing::find_kernel;
using ::testing::HasSubstr;

constexpr std::string_view kStandIn = R"(
#include <string.h>
#ifndef CONFIGURATION
#define CONFIGURATION "OpenBLAS 0.3.99 BUILD_BFLOAT16 MAX_THREADS=1"
#endif
char* openblas_get_config(void) { return CONFIGURATION; }
char* openblas_get_corename(void) { return "Standin"; }
int openblas_get_parallel(void) { return 0; }
static int threads = 8;
void openblas_set_num_threads(int n) { threads = n; }
int openblas_get_num_threads(void) { return threads; }
static double from_bf16(unsigned short bits) {
  unsigned wide = (unsigned)bits << 16;
  float value;
  memcpy(&value, &wide, 4);
  return value;
}
#define ITSELF(x) (x)
// Element (i, j) of op(x).
#define AT(x, order, trans, i, j, ld) \
  (x)[((order) == 101) == ((trans) == 111) ? (long)(i) * (ld) + (j) : (long)(j) * (ld) + (i)]
#define GEMM(name, in, type, load)                                                             \
  void name(int order, int ta, int tb, int m, int n, int k, type alpha, const in* a, int lda,  \
            const in* b, int ldb, type beta, type* c, int ldc) {                               \
    for (int i = 0; i < m; ++i)                                                                \
      for (int j = 0; j < n; ++j) {                                                            \
        double sum = 0;                                                                        \
        for (int p = 0; p < k; ++p)                                                            \
          sum += load(AT(a, order, ta, i, p, lda)) * load(AT(b, order, tb, p, j, ldb));        \
        type* out = &AT(c, order, 111, i, j, ldc);                                             \
        *out = alpha * sum + (beta == 0 ? 0 : beta * *out);                                    \
      }                                                                                        \
  }
GEMM(cblas_sgemm, float, float, (double)ITSELF)
GEMM(cblas_dgemm, double, double, ITSELF)
GEMM(cblas_sbgemm, unsigned short, float, from_bf16)
#define GEMV(name, type)                                                                       \
  void name(int order, int trans, int m, int n, type alpha, const type* a, int lda,            \
            const type* x, int incx, type beta, type* y, int incy) {                           \
    int rows = trans == 111 ? m : n, columns = trans == 111 ? n : m;                           \
    for (int i = 0; i < rows; ++i) {                                                           \
      double sum = 0;                                                                          \
      for (int j = 0; j < columns; ++j)                                                        \
        sum += (double)AT(a, order, trans, i, j, lda) * x[(long)j * incx];                     \
      y[(long)i * incy] = alpha * sum + beta * y[(long)i * incy]; /* Also where beta is 0. */  \
    }                                                                                          \
  }
GEMV(cblas_sgemv, float)
GEMV(cblas_dgemv, double)
)";

class OtherBuild : public ::testing::Test {
 protected:
  void build(const std::string& flag) {
    auto folder = TemporaryDirectory::create();
    ASSERT_TRUE(folder);
    folder_ = std::make_unique<TemporaryDirectory>(std::move(*folder));
    ASSERT_TRUE(write_file_atomic(folder_->file("standin.c"), kStandIn));
    const auto built = run_command({.argv = {"cc", "-O1", "-shared", "-fPIC", flag, "-o", library(),
                                             folder_->file("standin.c")},
                                    .env = {"PATH=/usr/local/bin:/usr/bin:/bin"}},
                                   {});
    if (!built) GTEST_SKIP() << "no C compiler: " << built.error().message;
    ASSERT_TRUE(built->status.success()) << built->err;
  }
  std::string library() const { return folder_->file("libopenblas.so.0"); }

  Result<BoundKernel> bind(const gemm::Shape& shape, const std::string& name) {
    ASSAY_TRY(const Problem problem, gemm::problem(shape));
    ASSAY_TRY(auto families, make_provider()->families({{"library", library()}}));
    ASSAY_TRY(const Kernel kernel, find_kernel(families, problem, name));
    return BoundKernel::make(kernel, problem);
  }

  std::unique_ptr<TemporaryDirectory> folder_;
};

TEST_F(OtherBuild, WithBf16HasARowForIt) {
  build("-g0");
  if (IsSkipped()) return;
  for (const char* layout : {"tt", "tn", "ntn"}) {
    auto bound = bind({.m = 7,
                       .n = 9,
                       .k = 11,
                       .batch = 2,
                       .a = DType::bf16,
                       .b = DType::bf16,
                       .out = DType::f32,
                       .layout = layout},
                      "gemm/sbgemm");
    ASSERT_TRUE(bound) << bound.error().message;
    ASSERT_TRUE(bound->launch());
    const Check check = bound->check();
    EXPECT_TRUE(check.right) << layout << ": " << check.first_wrong;
  }
}

TEST_F(OtherBuild, AGemvThatReadsItsOutputIsGivenZeros) {
  build("-g0");
  if (IsSkipped()) return;
  for (const gemm::Shape& shape : {gemm::Shape{.m = 1, .n = 9, .k = 11},
                                   {.m = 3, .n = 9, .k = 11, .batch = 2, .ldout = 12},
                                   {.m = 9, .n = 1, .k = 11, .alpha = 2}}) {
    auto bound = bind(shape, "gemv/sgemv");
    ASSERT_TRUE(bound) << bound.error().message;
    auto* out = static_cast<float*>(bound->data(2));
    std::fill(out, out + 9, std::numeric_limits<float>::quiet_NaN());
    ASSERT_TRUE(bound->launch());
    const Check check = bound->check();
    EXPECT_TRUE(check.right) << check.first_wrong;
  }
}

TEST_F(OtherBuild, BetaStillAddsC) {
  build("-g0");
  if (IsSkipped()) return;
  auto bound = bind({.m = 2, .n = 9, .k = 11, .beta = 3}, "gemv/sgemv");
  ASSERT_TRUE(bound) << bound.error().message;
  ASSERT_TRUE(bound->launch());
  EXPECT_TRUE(bound->check().right) << bound->check().first_wrong;
}

TEST_F(OtherBuild, SaysItsVersionAndCore) {
  build("-g0");
  if (IsSkipped()) return;
  const Availability availability = make_provider()->availability({{"library", library()}});
  EXPECT_EQ(availability.version, "0.3.99");
  EXPECT_EQ(availability.details["core"], "Standin");
  EXPECT_EQ(availability.details["threading"], "serial");
}

TEST_F(OtherBuild, With64BitIntegersIsRefused) {
  build("-DCONFIGURATION=\"OpenBLAS 0.3.99 USE64BITINT MAX_THREADS=1\"");
  if (IsSkipped()) return;
  const Availability availability = make_provider()->availability({{"library", library()}});
  EXPECT_FALSE(availability.available);
  EXPECT_THAT(availability.reason, HasSubstr("64-bit integers"));
}

}  // namespace
}  // namespace assay::openblas
