// Sensitivity on a GPU: a kernel that is slower by a known share must be called so.

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "bench/gpu.h"
#include "bench/runs.h"

namespace assay::bench {
namespace {

struct Case {
  int thousandths;
  double margin;
  const char* name;
  int base;  // Cycles.
};

// Races of one run: pairs of one code that share inputs and rounds, each kernel with buffers of its
// own, on as many problems with their own seeds.
constexpr int kProblems = 2, kPairs = 25;
constexpr double kSecondsPerPair = 0.25;  // Of timing, besides a problem's own.
// What was slowed by more than it was to be shows less than the row says.
constexpr double kMostOfShare = 1.3;

// Ids of the two kernels of a pair: as it is, and slowed.
std::pair<std::string, std::string> pair_of(const ProblemRecord& problem, int copy) {
  std::pair<std::string, std::string> ids;
  for (const KernelOutcome& kernel : problem.kernels) {
    const Json design = kernel.metadata.member("design");
    if (design.value("COPY", -1) != copy) continue;
    (design.value("SLOW", 0) == 0 ? ids.first : ids.second) = kernel.id;
  }
  return ids;
}

Result<Row> measure_case(const Context& context, const Case& one) {
  ASSAY_TRY(const std::string source, slowed_source(context));
  ASSAY_TRY(auto request, make_gpu_request(context, fmt::format("gpu_slowed_{}", one.name),
                                           measure::Spacing::chain));
  const int copies = context.count(kPairs, 1), races = context.count(kProblems * kPairs, 1);
  ASSAY_TRY(request.pool.kernels, read_sources({source}));
  request.pool.providers = {{"cuda_source", "", {}}};
  request.pool.filter = fmt::format("BASE == {} and (SLOW == 0 or SLOW == {}) and COPY < {}",
                                    one.base, one.thousandths, copies);
  request.effort.margin = one.margin;
  request.effort.exhaustive = true;
  ASSAY_TRY(request.question.problems, repeated({gpu_shape(1, 6144, 4096)}, races / copies));
  request.effort.budget_seconds = (sweep::kSecondsPerProblem + kSecondsPerPair * copies) *
                                  static_cast<double>(request.question.problems.size());
  ASSAY_TRY(const RunRecord record, run(request));
  int slower = 0, faster = 0, raced = 0;
  std::vector<Pair> pairs;
  Json list = Json::array();
  double ratio = 0, us = 0;
  for (const ProblemRecord& problem : record.problems) {
    for (int copy = 0; copy < copies; ++copy) {
      const auto [plain, slowed] = pair_of(problem, copy);
      const auto pair = judge_pair(problem, record.options, slowed, plain);
      if (!pair) continue;
      ++raced;
      ratio += pair->log_ratio;
      us += problem.decisive()->conclusion.median_us(plain);
      const stats::Word word = pair->verdict.word;
      slower += word == stats::Word::slower;
      faster += word == stats::Word::faster || word == stats::Word::slightly_faster;
      list.push_back(to_json(*pair));
      pairs.push_back(*pair);
    }
  }
  const double share = static_cast<double>(slower) / races;
  const double slowed_by = raced > 0 ? 1 - std::exp(ratio / raced) : 0;
  const double asked = one.thousandths * 1e-3;
  Row row{
      .target = fmt::format("slowed by {:.0f} % at {} ({:.0f} us), margin {:.1f} %, {} races",
                            100 * asked, one.name, raced ? us / raced : 0, 100 * one.margin, races),
      .bound =
          fmt::format(">= 95 % slower, 0 faster; by no more than {} times as much", kMostOfShare),
      .measured = fmt::format("{:.0f} % slower, {} faster; {:+.2f} %, half-width {}", 100 * share,
                              faster, -100 * slowed_by, widths_text(pairs)),
      .ok = share >= 0.95 && faster == 0 && slowed_by <= kMostOfShare * asked};
  row.details = {{"races", list},
                 {"wall_seconds", record.totals.wall_seconds},
                 {"timed_seconds", record.totals.timed_seconds}};
  row.notes.push_back(fmt::format("{}: {} of {} races; {:.0f} s of wall time, {:.1f} s timed.",
                                  one.name, raced, races, record.totals.wall_seconds,
                                  record.totals.timed_seconds));
  return row;
}

}  // namespace

Result<std::vector<Row>> measure_gpu_sensitivity_short(const Context& context) {
  ASSAY_TRY(Row row, measure_case(context, {30, 0.01, "short", 0}));
  return std::vector<Row>{std::move(row)};
}

Result<std::vector<Row>> measure_gpu_sensitivity_long(const Context& context) {
  ASSAY_TRY(Row row, measure_case(context, {10, 0.003, "long", 370'000}));
  return std::vector<Row>{std::move(row)};
}

}  // namespace assay::bench
