// The figures of README.md: `blis_provider_test --gtest_also_run_disabled_tests
// --gtest_filter='*DISABLED*'` prints them.

#include <array>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api.h"
#include "assay/op/gemm/gemm.h"
#include "providers/blis/info.h"
#include "testing/bound_kernel.h"
#include "testing/interleave.h"

namespace assay::blis {
namespace {

TEST(BlisOverhead, DISABLED_AgainstTheLibrarysOwnCalls) {
  const auto api = Api::open({});
  ASSERT_TRUE(api) << api.error().message;
  (*api)->use_threads(1);
  const auto library = DynamicLibrary::open((*api)->path());
  // The Fortran interface, column-major: the shortest way into the library.
  void (*sgemm)(const char*, const char*, const int*, const int*, const int*, const float*,
                const float*, const int*, const float*, const int*, const float*, float*,
                const int*) = nullptr;
  ASSERT_TRUE(library->load("sgemm_", sgemm));
  const auto& f32 = (*api)->f32;
  const auto runtime = (*api)->always_packing(1);
  ASSERT_TRUE(runtime);
  fmt::print("BLIS {} {}\n{:>4} {:>5} {:>5} {:2} {:13} {:>10} {:>10}  {}\n", (*api)->version(),
             (*api)->details()["core"].get<std::string>(), "m", "n", "k", "", "ours", "call us",
             "ours us", "ours / call");
  const float one = 1, zero = 0;
  for (const auto [m, n, k] : {std::array{16, 16, 16},
                               {64, 64, 64},
                               {1, 8192, 2048},
                               {2, 8192, 2048},
                               {4, 8192, 2048},
                               {16, 8192, 2048},
                               {128, 2048, 2048},
                               {512, 2048, 2048}}) {
    for (const bool plain : {true, false}) {
      const char* const layout = plain ? "tt" : "tn";
      const auto problem = gemm::problem({.m = m, .n = n, .k = k, .layout = layout});
      ASSERT_TRUE(problem);
      const auto families = make_provider()->families({});
      ASSERT_TRUE(families);
      for (const std::string name : {"gemm/sgemm", "gemm/sgemm_typed", "gemm/sgemm_packed"}) {
        const auto kernel = testing::find_kernel(*families, *problem, name);
        if (!kernel) continue;
        auto bound = testing::BoundKernel::make(*kernel, *problem);
        ASSERT_TRUE(bound) << bound.error().message;
        const auto* a = static_cast<const float*>(bound->data(0));
        const auto* b = static_cast<const float*>(bound->data(1));
        auto* out = static_cast<float*>(bound->data(2));
        const int64_t b_row = plain ? n : 1, b_column = plain ? 1 : k;
        const std::function<void()> direct = [&, m = m, n = n, k = k] {
          if (name == "gemm/sgemm") {
            const int ldb = plain ? n : k;
            sgemm(plain ? "N" : "T", "N", &n, &m, &k, &one, b, &ldb, a, &k, &zero, out, &n);
          } else if (name == "gemm/sgemm_typed") {
            f32.typed(kAsItIs, kAsItIs, m, n, k, &one, a, k, 1, b, b_row, b_column, &zero, out, n,
                      1);
          } else {
            f32.expert(kAsItIs, kAsItIs, m, n, k, &one, a, k, 1, b, b_row, b_column, &zero, out, n,
                       1, nullptr, &*runtime);
          }
        };
        const auto result = testing::interleave(
            direct, [&] { static_cast<void>(bound->launch()); }, 0.7);
        fmt::print("{:4} {:5} {:5} {:2} {:13} {:10.2f} {:10.2f}  {:.3f} [{:.3f}, {:.3f}]\n", m, n,
                   k, layout, kernel->metadata().name(), result.first_us, result.second_us,
                   result.ratio, result.low, result.high);
      }
    }
  }
}

}  // namespace
}  // namespace assay::blis
