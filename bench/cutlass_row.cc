// How long it takes to know CUTLASS's 77,036 configurations, and those that can do a problem.

#include <algorithm>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/file.h"
#include "assay/kernel/catalog.h"
#include "assay/op/gemm/gemm.h"
#include "assay/stats/robust.h"
#include "bench/row.h"

namespace assay::bench {
namespace {

constexpr size_t kConfigurations = 77'036;  // Of nvidia-cutlass 4.2.0's largest level.
constexpr size_t kEach = 1'875;             // As many take f16, tn with f32 sums.

// A table of as many configurations, designs and sets of operands as the package's own: it is read
// where there is no package.
std::string synthetic_table() {
  std::string text =
      fmt::format("assay-cutlass-table 1 nvidia-cutlass 4.2.0 max {}\n", kConfigurations);
  size_t designs = 0;
  for (int tile = 0; designs < kEach; ++tile)
    for (const char* cluster : {"1 1", "2 1", "1 2", "2 2", "4 1", "1 4"})
      for (const char* schedule : {"pingpong", "cooperative"})
        for (const char* rest : {"tma persistent", "direct persistent", "tma stream_k"}) {
          if (designs == kEach) break;
          text += fmt::format("d {} {} 64 {} 0 {} {}\n", 64 << tile % 3, 16 * (1 + tile / 3),
                              cluster, schedule, rest);
          ++designs;
        }
  const size_t rest = kConfigurations % kEach;
  text += fmt::format("l 0-{}\nl 0-{}\n", kEach - 1, rest - 1);
  size_t left = kConfigurations / kEach;
  for (const char* types :
       {"f16 void f16 f32", "bf16 void bf16 f32", "f16 void f32 f32", "bf16 void f32 f32",
        "f16 f16 f16 f32", "bf16 bf16 bf16 f32", "f16 f32 f32 f32", "bf16 f32 f32 f32",
        "f16 void f16 f16", "f16 f16 f16 f16", "f16 f32 f32 f16"})
    for (const char* layouts : {"t n", "t t", "n n", "n t"})
      if (left > 0) {
        --left;
        text += fmt::format("g {} {} 8 {} 0\n", types, layouts,
                            std::string_view(types).ends_with("f32 f32") ? 4 : 8);
      }
  return text + "g f16 f32 f32 f16 n t 8 8 1\n";
}

double ms_since(int64_t start_ns) { return static_cast<double>(monotonic_ns() - start_ns) * 1e-6; }

}  // namespace

Result<std::vector<Row>> measure_cutlass(const Context& context) {
  ASSAY_TRY(const auto cache, TemporaryDirectory::create("/tmp", "assay-bench-"));
  ASSAY_TRY(make_directories(cache.file("cutlass")));
  ASSAY_TRY(
      write_file_atomic(cache.file("cutlass/configurations-max-synthetic.txt"), synthetic_table()));
  // Kernels of a problem are listed where there is a compiler; none is called.
  ASSAY_TRY(make_directories(cache.file("include/cutlass")));
  ASSAY_TRY(write_file_atomic(cache.file("include/cutlass/cutlass.h"), ""));
  const ProviderSettings settings = {{"space", "max"},
                                     {"cache", cache.path()},
                                     {"directory", cache.path()},
                                     {"nvcc", "/bin/true"}};
  ASSAY_TRY(const Problem problem,
            gemm::problem(gemm::Shape{.m = 16, .n = 6144, .k = 4096, .dtype = DType::f16}));
  ASSAY_TRY(const Target hopper, Target::parse("sm_90a"));
  const auto providers = built_in_providers();
  const auto provider = std::find_if(providers.begin(), providers.end(),
                                     [](const auto& one) { return one->info().name == "cutlass"; });
  if (provider == providers.end()) return fail(ErrorCode::internal, "no provider is cutlass");
  // All that a process does which has just begun.
  std::vector<double> first, warm;
  size_t listed = 0, matched = 0;
  for (int i = 0; i < context.count(11, 3); ++i) {
    const int64_t start = monotonic_ns();
    Catalog catalog;
    catalog.add(**provider, settings);
    for (const auto& [name, why] : catalog.missing())
      return fail(ErrorCode::failed, "{}: {}", name, why);
    ASSAY_TRY(const auto all, catalog.get_kernels());
    ASSAY_TRY(const auto found, catalog.get_kernels(problem, {.target = hopper}));
    first.push_back(ms_since(start));
    listed = all.kernels.size();
    matched = found.kernels.size();
    if (matched == 0) return fail(ErrorCode::internal, "no kernel of CUTLASS can do the problem");
    for (int j = 0; j < context.count(21, 3); ++j) {
      const int64_t again = monotonic_ns();
      ASSAY_TRY(catalog.get_kernels(problem, {.target = hopper}).map([](const Found&) {}));
      warm.push_back(ms_since(again));
    }
  }
  const double cold_ms = first.front(), warm_ms = stats::median(warm);
  Row cold{.target = "listing 77,036 configurations of CUTLASS and matching one problem, at first",
           .bound = "<= 50 ms",
           .measured = fmt::format("{:.1f} ms", cold_ms),
           .ok = cold_ms <= 50};
  cold.notes.push_back(fmt::format(
      "CUTLASS: a table of {} configurations is read from a file that the system has in memory, {} "
      "kernels are listed (each for either order of the output), {} can do the problem.",
      kConfigurations, listed, matched));
  cold.details = {{"first_ms", cold_ms}, {"listed", listed}, {"matched", matched}};
  Row after{.target = "matching one problem against them again",
            .bound = "<= 2 ms",
            .measured = fmt::format("{:.2f} ms", warm_ms),
            .ok = warm_ms <= 2};
  after.details = {{"median_ms", warm_ms}};
  return std::vector<Row>{cold, after};
}

}  // namespace assay::bench
