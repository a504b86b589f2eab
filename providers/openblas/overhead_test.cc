// The figures of README.md: `openblas_provider_test --gtest_also_run_disabled_tests
// --gtest_filter='*DISABLED*'` prints them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api.h"
#include "assay/op/gemm/gemm.h"
#include "providers/openblas/info.h"
#include "testing/bound_kernel.h"
#include "testing/interleave.h"

namespace assay::openblas {
namespace {

TEST(OpenBlasOverhead, DISABLED_AgainstTheLibrarysOwnCalls) {
  const auto api = Api::open({});
  ASSERT_TRUE(api) << api.error().message;
  (*api)->use_threads(1);
  const auto library = DynamicLibrary::open((*api)->path());
  // The Fortran interface, column-major: the shortest way into the library.
  void (*sgemm)(const char*, const char*, const int*, const int*, const int*, const float*,
                const float*, const int*, const float*, const int*, const float*, float*,
                const int*) = nullptr;
  void (*sgemv)(const char*, const int*, const int*, const float*, const float*, const int*,
                const float*, const int*, const float*, float*, const int*) = nullptr;
  ASSERT_TRUE(library->load("sgemm_", sgemm));
  ASSERT_TRUE(library->load("sgemv_", sgemv));
  fmt::print("{:>4} {:>5} {:>5} {:8} {:10} {:>10} {:>10}  {}\n", "m", "n", "k", "ours", "call",
             "call us", "ours us", "ours / call");
  const float one = 1, zero = 0;
  for (const auto [m, n, k] : {std::array{16, 16, 16},
                               {64, 64, 64},
                               {1, 8192, 2048},
                               {2, 8192, 2048},
                               {4, 8192, 2048},
                               {16, 8192, 2048},
                               {128, 2048, 2048},
                               {512, 2048, 2048}}) {
    const auto problem = gemm::problem({.m = m, .n = n, .k = k, .layout = "tt"});
    ASSERT_TRUE(problem);
    const bool row = m <= 2;
    const auto families = make_provider()->families({});
    ASSERT_TRUE(families);
    const auto kernel =
        testing::find_kernel(*families, *problem, row ? "gemv/sgemv" : "gemm/sgemm");
    ASSERT_TRUE(kernel) << kernel.error().message;
    auto bound = testing::BoundKernel::make(*kernel, *problem);
    ASSERT_TRUE(bound) << bound.error().message;
    const auto* a = static_cast<const float*>(bound->data(0));
    const auto* b = static_cast<const float*>(bound->data(1));
    auto* out = static_cast<float*>(bound->data(2));
    const int increment = 1;
    const auto print = [&](const char* call, const std::function<void()>& direct) {
      const auto result = testing::interleave(
          direct, [&] { static_cast<void>(bound->launch()); }, 2);
      fmt::print("{:4} {:5} {:5} {:8} {:10} {:10.2f} {:10.2f}  {:.3f} [{:.3f}, {:.3f}], {} pairs\n",
                 m, n, k, row ? "sgemv" : "sgemm", call, result.first_us, result.second_us,
                 result.ratio, result.low, result.high, result.pairs);
    };
    print("sgemm_", [&, m = m, n = n, k = k] {
      sgemm("N", "N", &n, &m, &k, &one, b, &n, a, &k, &zero, out, &n);
    });
    if (row)
      print("sgemv_", [&, m = m, n = n, k = k] {
        for (int i = 0; i < m; ++i)
          sgemv("N", &n, &k, &one, b, &n, a + i * k, &increment, &zero, out + i * n, &increment);
      });
  }
}

}  // namespace
}  // namespace assay::openblas
