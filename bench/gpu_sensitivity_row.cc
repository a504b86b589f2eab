// Sensitivity on a card: a kernel that is slower by a known share must be called so.

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

Result<Row> measure_case(const Context& context, const Case& one, const std::string& source) {
  ASSAY_TRY(auto request, make_card_request(context, fmt::format("gpu_slowed_{}", one.name),
                                            measure::Spacing::chain));
  const int races = context.count(15, 2);
  request.kernels = {source};
  request.providers = {{"cuda_source", "", {}}};
  request.filter =
      fmt::format("BASE == {} and (SLOW == 0 or SLOW == {})", one.base, one.thousandths);
  request.margin = one.margin;
  request.exhaustive = true;
  ASSAY_TRY(request.problems, repeated({card_shape(1, 6144, 4096)}, races));
  request.budget_seconds = sweep::kSecondsPerProblem * races;
  ASSAY_TRY(const RunRecord record, run(request));
  int slower = 0, faster = 0, raced = 0;
  std::vector<Pair> pairs;
  Json list = Json::array();
  double ratio = 0, us = 0;
  for (const ProblemRecord& problem : record.problems) {
    std::string plain, slowed;
    for (const KernelOutcome& kernel : problem.kernels)
      (kernel.name.find("SLOW0") != std::string::npos ? plain : slowed) = kernel.id;
    const auto pair = judge_pair(problem, record.options, slowed, plain);
    if (!pair) continue;
    ++raced;
    ratio += pair->log_ratio;
    us += problem.decisive()->conclusion.median_us(plain);
    const stats::Word word = pair->verdict.word;
    if (word == stats::Word::slower) ++slower;
    if (word == stats::Word::faster || word == stats::Word::slightly_faster) ++faster;
    list.push_back(to_json(*pair));
    pairs.push_back(*pair);
  }
  const double share = static_cast<double>(slower) / races;
  Row row{
      .target = fmt::format("slowed by {:.0f} % at {} ({:.0f} us), margin {:.1f} %, {} races",
                            one.thousandths * 0.1, one.name, raced ? us / raced : 0,
                            100 * one.margin, races),
      .bound = ">= 95 % slower, 0 faster",
      .measured = fmt::format("{:.0f} % slower, {} faster; {:+.2f} %, half-width {}", 100 * share,
                              faster, raced ? 100 * ratio / raced : 0, widths_text(pairs)),
      .ok = share >= 0.95 && faster == 0};
  row.details = std::move(list);
  row.notes.push_back(fmt::format("{}: {:.0f} s of wall time, {:.1f} s timed.", one.name,
                                  record.totals.wall_seconds, record.totals.timed_seconds));
  return row;
}

}  // namespace

Result<std::vector<Row>> measure_gpu_sensitivity(const Context& context) {
  ASSAY_TRY(const std::string source, slowed_source(context));
  std::vector<Row> rows;
  for (const Case& one : {Case{30, 0.01, "short", 0}, Case{10, 0.003, "long", 370'000}}) {
    ASSAY_TRY(rows.emplace_back(), measure_case(context, one, source));
  }
  return rows;
}

}  // namespace assay::bench
