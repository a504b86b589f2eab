// Two small things that are done very often: finding kernels and launching one.

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/device/cpu/cpu_device.h"
#include "assay/kernel/catalog.h"
#include "assay/op/gemm/gemm.h"
#include "assay/stats/robust.h"
#include "bench/row.h"
#include "bench/synthetic_family.h"

namespace assay::bench {
namespace {

constexpr int64_t kRows = 100'000;

Result<double> median_search_ms(const Catalog& catalog, const Problem& problem,
                                const std::optional<Target>& target, int repeats) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const int64_t start = monotonic_ns();
    const auto found = catalog.get_kernels(problem, {.target = target});
    times.push_back(static_cast<double>(monotonic_ns() - start) * 1e-6);
    if (!found) return fail(found.error());
    if (static_cast<int64_t>(found->kernels.size()) != kRows)
      return fail(ErrorCode::internal, "{} rows were found", found->kernels.size());
  }
  return stats::median(times);
}

// Nanoseconds of one call in a block of many.
template <class Call>
double block_ns(const Call& call) {
  constexpr int kCalls = 2000;
  const int64_t start = monotonic_ns();
  for (int i = 0; i < kCalls; ++i) call();
  return static_cast<double>(monotonic_ns() - start) / kCalls;
}

}  // namespace

Result<std::vector<Row>> measure_discovery(const Context& context) {
  ASSAY_TRY(const Problem problem, gemm::problem(gemm::Shape{.m = 16, .n = 4096, .k = 4096}));
  Catalog catalog;
  catalog.add("bench", ProviderRole::user, make_synthetic_family(kRows, Synthetic::nothing));
  const int repeats = context.count(101, 21);
  ASSAY_TRY(const double problem_ms, median_search_ms(catalog, problem, std::nullopt, repeats));
  ASSAY_TRY(const double target_ms,
            median_search_ms(catalog, problem, cpu::host_target(), repeats));
  Row row{.target = "get_kernels over 100,000 rows of one family, one match set",
          .bound = "<= 5 ms",
          .measured = fmt::format("{:.2f} ms", problem_ms),
          .ok = problem_ms <= 5};
  row.notes.push_back(fmt::format(
      "get_kernels: median of {} searches by a problem; by problem and target, where each row is "
      "also asked through do_supports, {:.2f} ms.",
      repeats, target_ms));
  row.details = {{"by_problem_ms", problem_ms}, {"by_problem_and_target_ms", target_ms}};
  return std::vector<Row>{row};
}

Result<std::vector<Row>> measure_launch(const Context& context) {
  ASSAY_TRY(const Problem problem, gemm::problem(gemm::Shape{.m = 4, .n = 64, .k = 64}));
  Catalog catalog;
  catalog.add("bench", ProviderRole::user, make_synthetic_family(100, Synthetic::nothing));
  ASSAY_TRY(const auto found, catalog.get_kernels(problem));
  ASSAY_TRY(const auto device, cpu::open({}));
  ASSAY_TRY(const auto stream, device->make_stream());
  const Kernel& kernel = found.kernels.front();
  ASSAY_TRY(const Artifact artifact, kernel.compile(problem, device->target(), {}));
  Arguments arguments{problem, {}};
  std::vector<std::unique_ptr<Buffer>> buffers;
  for (const Operand& operand : problem.operands()) {
    ASSAY_TRY(auto buffer, device->allocate(static_cast<size_t>(operand.span_bytes), {}));
    arguments.data.push_back(buffer->data());
    buffers.push_back(std::move(buffer));
  }
  ASSAY_TRY(
      Plan plan,
      kernel.plan(
          {.arguments = arguments, .artifact = artifact, .device = *device, .workspace = {}}));
  std::vector<double> differences, direct, planned;
  Status launched;
  for (int block = 0; block < context.count(401, 101); ++block) {
    // The order changes from block to block: what drifts falls on both.
    const bool plan_first = block % 2 == 0;
    double by_plan = 0, by_call = 0;
    for (const bool is_plan : {plan_first, !plan_first}) {
      if (is_plan)
        by_plan = block_ns([&] { launched = plan.launch(*stream); });
      else
        by_call = block_ns([&] { do_nothing(nullptr, arguments.data.data()); });
    }
    ASSAY_TRY(launched);
    differences.push_back(by_plan - by_call);
    direct.push_back(by_call);
    planned.push_back(by_plan);
  }
  const double more = stats::median(differences);
  Row row{.target = "launch through a plan against a direct call, no-op kernel",
          .bound = "<= 50 ns more",
          .measured = fmt::format("{:.1f} ns more", more),
          .ok = more <= 50};
  row.details = {{"difference_ns", more},
                 {"direct_ns", stats::median(direct)},
                 {"plan_ns", stats::median(planned)}};
  return std::vector<Row>{row};
}

}  // namespace assay::bench
