// Everything that there is to be raced on a GPU: what the best of it brings over a library's
// default, and how early a ranker's order has it.

#include <algorithm>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "assay/kernel/ranker.h"
#include "assay/record/conclude.h"
#include "assay/record/ranking.h"
#include "bench/gpu.h"
#include "bench/runs.h"

namespace assay::bench {
namespace {

constexpr double kLeastRecall = 0.9;

// Those of the suite `transformer`, and projections of a large model at 16 to 256 tokens.
constexpr int64_t kShapes[][3] = {{8192, 16384, 4096}, {16384, 16384, 8192}, {4096, 4096, 8192},
                                  {4096, 4096, 4096},  {8192, 4096, 4096},   {16, 6144, 4096},
                                  {64, 28672, 4096},   {128, 4096, 4096},    {256, 6144, 4096}};

const KernelOutcome* fastest(const ProblemRecord& problem, std::string_view provider) {
  const KernelOutcome* best = nullptr;
  for (const KernelOutcome& kernel : problem.kernels)
    if (kernel.provider == provider && is_timed(kernel.ending) && kernel.race &&
        kernel.race->rounds > 0 &&
        (best == nullptr || kernel.race->median_us < best->race->median_us))
      best = &kernel;
  return best;
}

const KernelOutcome* find_default(const ProblemRecord& problem) {
  for (const KernelOutcome& kernel : problem.kernels)
    if (kernel.provider == "cublaslt" && kernel.name == "default" && kernel.race) return &kernel;
  return nullptr;
}

const KernelOutcome* find_winner(const ProblemRecord& problem) {
  const Confirmation* const decisive = problem.decisive();
  if (decisive == nullptr) return nullptr;
  const auto found =
      std::ranges::find(problem.kernels, decisive->conclusion.winner, &KernelOutcome::id);
  return found == problem.kernels.end() ? nullptr : &*found;
}

std::string shape_of(const ProblemRecord& problem) {
  return fmt::format("m{} n{} k{}", problem.dimension("m", 0), problem.dimension("n", 0),
                     problem.dimension("k", 0));
}

Result<Row> judge_default(const RunRecord& record) {
  Row row{.target = fmt::format("the pool's best against cuBLASLt's default, {} shapes",
                                record.problems.size()),
          .bound = "never slower by 1 %",
          .ok = true};
  double least = HUGE_VAL;
  std::string words;
  Json shapes = Json::array();
  for (const ProblemRecord& problem : record.problems) {
    const KernelOutcome* const best = find_winner(problem);
    const KernelOutcome* const plain = find_default(problem);
    if (best == nullptr || plain == nullptr)
      return fail(ErrorCode::failed, "{}: {}", problem.name,
                  best == nullptr ? problem.no_winner : "cuBLASLt's default was not timed");
    double ratio = 1;
    std::string how = "is it";
    if (best != plain) {
      const auto verdict = verdict_between(problem, record.options, best->id, plain->id);
      ratio = verdict && verdict->ratio > 0 ? verdict->ratio
                                            : plain->race->median_us / best->race->median_us;
      how = verdict && verdict->has_interval()
                ? fmt::format("{:.3f} [{:.3f}, {:.3f}]", ratio, verdict->low, verdict->high)
                : fmt::format("{:.2f} by the race alone", ratio);
      row.ok = row.ok && !(verdict && verdict->high < 1 - record.options.margin);
    }
    least = std::min(least, ratio);
    words += fmt::format("; {}: {}/{} {}", shape_of(problem), best->provider, best->name, how);
    shapes.push_back({{"shape", shape_of(problem)},
                      {"kernel", best->provider + "/" + best->name},
                      {"ratio", ratio}});
  }
  row.measured = fmt::format("{:.3f} x at least", least);
  row.notes.push_back("best: " + words.substr(std::min<size_t>(words.size(), 2)) + ".");
  row.details = {{"shapes", shapes}};
  return row;
}

Row judge_rankers(const RunRecord& record) {
  struct Seen {
    int recalled = 0, known = 0;
    double most_behind = 0;
    std::string words;
  };
  std::map<std::string, Seen> rankers;
  for (const ProblemRecord& problem : record.problems)
    for (const RankerHindsight& one : hindsight(problem)) {
      Seen& seen = rankers[one.ranker];
      if (!one.recalled) continue;
      ++seen.known;
      seen.recalled += *one.recalled ? 1 : 0;
      seen.most_behind = std::max(seen.most_behind, one.behind);
      seen.words += fmt::format("{}{} {:.1f} %", seen.words.empty() ? "" : ", ", shape_of(problem),
                                100 * one.behind);
    }
  Row row{
      .target = fmt::format("recall@{} of the better ranker, {} shapes", kRecalled,
                            record.problems.size()),
      .bound = fmt::format(">= {} within {:.0f} % of the best", kLeastRecall, 100 * kRecallWithin)};
  double best = 0;
  for (const auto& [name, seen] : rankers) {
    if (seen.known == 0) continue;
    best = std::max(best, static_cast<double>(seen.recalled) / seen.known);
    row.measured += fmt::format("{}{} {} of {}", row.measured.empty() ? "" : ", ", name,
                                seen.recalled, seen.known);
    row.notes.push_back(
        fmt::format("{}: the best of its first {} is behind by: {}.", name, kRecalled, seen.words));
    row.details[name] = {
        {"recalled", seen.recalled}, {"known", seen.known}, {"most_behind", seen.most_behind}};
  }
  if (row.measured.empty()) row.measured = "no ranker could be judged";
  row.ok = best >= kLeastRecall;
  return row;
}

// Triton's own kernels against the best of CUTLASS: reported, no bound.
Row report_triton(const RunRecord& record) {
  Row row{.target = "Triton's best against CUTLASS's best", .bound = "reported", .ok = true};
  double least = HUGE_VAL, most = 0;
  Json shapes = Json::array();
  for (const ProblemRecord& problem : record.problems) {
    const KernelOutcome *const triton = fastest(problem, "triton"), *const cutlass =
                                                                        fastest(problem, "cutlass");
    if (triton == nullptr || cutlass == nullptr) continue;
    const double ratio = cutlass->race->median_us / triton->race->median_us;
    least = std::min(least, ratio);
    most = std::max(most, ratio);
    shapes.push_back({{"shape", shape_of(problem)},
                      {"triton", triton->name},
                      {"cutlass", cutlass->name},
                      {"ratio", ratio}});
  }
  row.measured = shapes.empty() ? "no shape that both can do"
                                : fmt::format("{:.2f} to {:.2f} x, {} shapes, by the race alone",
                                              least, most, shapes.size());
  row.details = {{"shapes", shapes}};
  return row;
}

}  // namespace

Result<std::vector<Row>> measure_gpu_pool(const Context& context) {
  const char* const pool = std::getenv("ASSAY_CUTLASS_POOL");
  if (pool == nullptr)
    return fail(ErrorCode::missing,
                "set ASSAY_CUTLASS_POOL to what scripts/build-cutlass-pool made");
  ASSAY_TRY(sweep::Request request, make_gpu_request(context, "gpu_pool", measure::Spacing::chain));
  request.pool.providers = {{"cublas", "", {}},
                            {"cublaslt", "", {}},
                            {"cutlass", "", {{"pool", pool}}},
                            {"triton", "", {}}};
  request.pool.ranker = first_ranker(built_in_rankers());
  request.pool.build = 0;  // What the pool has, all of it: else nobody knows what was the best.
  for (const auto& ranker : built_in_rankers())
    request.pool.rankers.push_back({std::string(ranker->info().name), {}});
  for (const auto& [m, n, k] : kShapes) {
    ASSAY_TRY(request.question.problems.emplace_back(), gemm::problem(gpu_shape(m, n, k)));
  }
  ASSAY_TRY(const RunRecord record, run(request));
  ASSAY_TRY(Row against_default, judge_default(record));
  return std::vector<Row>{std::move(against_default), judge_rankers(record), report_triton(record)};
}

}  // namespace assay::bench
