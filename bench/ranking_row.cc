// What it takes to put as many kernels in order as CUTLASS's generator has for f16 and bf16: 2,408
// at its default level, 77,036 at its largest. No GPU is needed: an H200's facts are written down.

#include <algorithm>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/kernel/ranker.h"
#include "assay/op/gemm/gemm.h"
#include "assay/stats/robust.h"
#include "bench/row.h"

namespace assay::bench {
namespace {

DesignAxis integers(const char* name, std::initializer_list<int64_t> values) {
  DesignAxis axis{{name}, {}};
  for (const int64_t value : values) axis.choices.push_back({value});
  return axis;
}

std::vector<KernelMetadata> gpu_rows(uint64_t wanted) {
  DesignAxis schedule{{"schedule"}, {}};
  for (const char* name : {"pingpong", "cooperative", "stream_k"})
    schedule.choices.push_back({std::string(name)});
  std::vector<DesignAxis> axes = {integers("tile_m", {64, 128, 256}),
                                  integers("tile_n", {16, 32, 64, 96, 128, 160, 192, 256}),
                                  integers("tile_k", {32, 64, 128}),
                                  integers("cluster_m", {1, 2, 4}),
                                  integers("cluster_n", {1, 2, 4}),
                                  integers("stages", {0, 2, 3, 4, 5, 6, 7, 8}),
                                  integers("alignment", {1, 2, 4, 8}),
                                  integers("split_k", {1, 2, 4, 8}),
                                  std::move(schedule)};
  const auto shared = std::make_shared<const DesignAxes>(std::move(axes));
  KernelTraits traits;
  traits.provider = "bench";
  traits.family = "gpus";
  traits.name = "{tile_m}x{tile_n}";
  traits.rule = std::make_shared<const ProblemRule>();
  const auto common = std::make_shared<const KernelTraits>(std::move(traits));
  const uint64_t step = shared->rows() / wanted;
  std::vector<KernelMetadata> rows;
  rows.reserve(wanted);
  for (uint64_t i = 0; i < wanted; ++i) rows.emplace_back(common, Design(shared, i * step));
  return rows;
}

DeviceFacts h200() {
  DeviceFacts facts;
  facts.name = "NVIDIA H200";
  facts.capability = 9;
  facts.multiprocessors = 132;
  facts.clock_hz = 1.98e9;
  facts.bytes_per_second = 4.8e12;
  facts.l2_bytes = 50 << 20;
  return facts;
}

}  // namespace

Result<std::vector<Row>> measure_ranking(const Context& context) {
  ASSAY_TRY(const Problem problem,
            gemm::problem(gemm::Shape{.m = 1024, .n = 6144, .k = 4096, .dtype = DType::f16}));
  constexpr std::pair<uint64_t, double> kSizes[] = {{2408, 2}, {77'036, 50}};
  std::vector<Row> rows;
  for (const auto& [size, bound_ms] : kSizes) {
    const auto kernels = gpu_rows(size);
    for (const auto& ranker : built_in_rankers()) {
      Row row{.target = fmt::format("{} puts {} kernels in order", ranker->info().name, size),
              .bound = fmt::format("<= {} ms", bound_ms)};
      // A library takes what it takes, for each configuration that differs in what it is told.
      row.stretch = !ranker->info().library.empty();
      const auto scorer = ranker->open({});
      if (!scorer) {
        row.measured = "not here";
        row.notes.push_back(fmt::format("{}: {}", ranker->info().name, scorer.error().message));
        rows.push_back(std::move(row));
        continue;
      }
      std::vector<double> times;
      for (int i = 0; i < context.count(21, 5); ++i) {
        const int64_t start = monotonic_ns();
        const Scores scores = (*scorer)->score(kernels, problem, h200());
        const auto order = order_of(scores.costs);
        times.push_back(static_cast<double>(monotonic_ns() - start) * 1e-6);
        if (order.size() != size)
          return fail(ErrorCode::internal, "{} put {} rows in order", ranker->info().name,
                      order.size());
        row.notes.clear();
        for (const auto& [why, count] : scores.unscored)
          row.notes.push_back(
              fmt::format("{}: {} of {}: {}", ranker->info().name, count, size, why));
      }
      const double median_ms = stats::median(times);
      row.measured = fmt::format("{:.2f} ms", median_ms);
      row.ok = median_ms <= bound_ms;
      row.details = {{"median_ms", median_ms}, {"first_ms", times.front()}};
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace assay::bench
