// The figures of README.md: `libxsmm_provider_test --gtest_also_run_disabled_tests
// --gtest_filter='*DISABLED*'` prints them.

#include <array>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api.h"
#include "assay/op/gemm/gemm.h"
#include "providers/libxsmm/info.h"
#include "testing/bound_kernel.h"
#include "testing/interleave.h"

namespace assay::libxsmm {
namespace {

// The call itself, and the loop over tiles that a user would write for these sizes, which are
// multiples of the tiles.
TEST(LibxsmmOverhead, DISABLED_AgainstTheLibrarysOwnCalls) {
  const auto api = Api::open({});
  ASSERT_TRUE(api) << api.error().message;
  fmt::print("libxsmm {} {}\n{:>4} {:>5} {:>5} {:22} {:>10} {:>10}  {}\n", (*api)->version(),
             (*api)->target(), "m", "n", "k", "kernel", "call us", "ours us", "ours / call");
  const float one = 1, zero = 0;
  for (const auto [m, n, k] : {std::array{16, 16, 16},
                               {32, 32, 32},
                               {64, 64, 64},
                               {1, 8192, 2048},
                               {4, 8192, 2048},
                               {16, 8192, 2048},
                               {128, 2048, 2048},
                               {512, 2048, 2048}}) {
    const auto problem = gemm::problem({.m = m, .n = n, .k = k, .layout = "tt", .constant = {"b"}});
    ASSERT_TRUE(problem);
    const auto families = make_provider()->families({});
    ASSERT_TRUE(families);
    for (const std::string name : {"gemm/sgemm", "tiles/tiles_64x512", "tiles/tiles_512x64",
                                   "tiles/tiles_prepared_64x512"}) {
      const auto kernel = testing::find_kernel(*families, *problem, name);
      if (!kernel) continue;
      auto bound = testing::BoundKernel::make(*kernel, *problem);
      ASSERT_TRUE(bound) << bound.error().message;
      const auto* a = static_cast<const float*>(bound->data(0));
      const auto* b = static_cast<const float*>(bound->data(1));
      auto* out = static_cast<float*>(bound->data(2));
      const bool prepared = kernel->metadata().prepares();
      const int tile_n =
          std::min<int>(n, static_cast<int>(kernel->metadata().design.integer("tile_n", 0)));
      const int tile_k =
          std::min<int>(k, static_cast<int>(kernel->metadata().design.integer("tile_k", 0)));
      const int rows = std::min(m, 64), lda = prepared ? tile_n : n;
      std::function<void()> direct;
      if (name == "gemm/sgemm") {
        direct = [&, m = m, n = n, k = k] {
          (*api)->sgemm("N", "N", &n, &m, &k, &one, b, &n, a, &k, &zero, out, &n);
        };
      } else {
        auto* const first = (*api)->dispatch(a, tile_n, rows, tile_k, lda, k, n, true, false);
        auto* const next = (*api)->dispatch(a, tile_n, rows, tile_k, lda, k, n, false, false);
        ASSERT_TRUE(first != nullptr && next != nullptr);
        const auto* panels = static_cast<const float*>(bound->prepared());
        direct = [=, m = m, n = n, k = k] {
          for (int j = 0; j < n; j += tile_n)
            for (int p = 0; p < k; p += tile_k) {
              const float* tile =
                  prepared ? panels + static_cast<int64_t>(j) * k + static_cast<int64_t>(p) * tile_n
                           : b + static_cast<int64_t>(p) * n + j;
              for (int i = 0; i < m; i += rows)
                (p == 0 ? first : next)(tile, a + static_cast<int64_t>(i) * k + p,
                                        out + static_cast<int64_t>(i) * n + j);
            }
        };
      }
      const auto result = testing::interleave(
          direct, [&] { static_cast<void>(bound->launch()); }, 0.7);
      fmt::print("{:4} {:5} {:5} {:22} {:10.2f} {:10.2f}  {:.3f} [{:.3f}, {:.3f}]\n", m, n, k,
                 kernel->metadata().name(), result.first_us, result.second_us, result.ratio,
                 result.low, result.high);
    }
  }
}

}  // namespace
}  // namespace assay::libxsmm
