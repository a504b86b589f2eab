// A/A on a GPU: a stock kernel against itself under other names. Whatever differs is the method's
// own error.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "assay/stats/robust.h"
#include "bench/gpu.h"
#include "bench/runs.h"

namespace assay::bench {
namespace {

constexpr const char* kProvider = "cublaslt";

struct Cell {
  const char* name;
  gemm::Shape shape;
  int problems;  // Runs of the method, each with its own seeds.
  int pairs;     // Races in each: as many times two names of one kernel, in the same rounds, each
                 // with buffers of its own.
};
constexpr double kSecondsPerPair = 0.25;  // Of timing, besides a problem's own.

std::string copy_name(int index) { return fmt::format("{}_{:02}", kProvider, index); }

Result<std::vector<Row>> measure(const Context& context, const Cell& cell,
                                 measure::Spacing spacing) {
  const auto spacing_name = std::string(measure::to_string(spacing));
  ASSAY_TRY(auto request,
            make_gpu_request(context, fmt::format("gpu_{}_{}", cell.name, spacing_name), spacing));
  const int pairs = context.count(cell.pairs, 1);
  for (int i = 0; i < 2 * pairs; ++i)
    request.pool.providers.push_back({kProvider, copy_name(i), {}});
  request.pool.filter = "name == 'default'";
  request.effort.exhaustive = true;  // None is dropped, whatever the race sees.
  ASSAY_TRY(request.question.problems, repeated({cell.shape}, context.count(cell.problems, 1)));
  request.effort.budget_seconds = (sweep::kSecondsPerProblem + kSecondsPerPair * pairs) *
                                  static_cast<double>(request.question.problems.size());
  ASSAY_TRY(const RunRecord record, run(request));
  std::vector<double> widths, within;
  int races = 0, words = 0, slight = 0, apart = 0;
  Json list = Json::array();
  for (int i = 0; i < pairs; ++i) {
    for (const Pair& pair : pairs_of(record, copy_name(2 * i), copy_name(2 * i + 1))) {
      ++races;
      const stats::Verdict& verdict = pair.verdict;
      words += verdict.word == stats::Word::faster || verdict.word == stats::Word::slower;
      slight += verdict.word == stats::Word::slightly_faster ||
                verdict.word == stats::Word::slightly_slower;
      apart += verdict.has_interval() && (verdict.low > 1 || verdict.high < 1);
      if (std::isfinite(pair.half_width)) widths.push_back(pair.half_width);
      within.push_back(pair.within);
      list.push_back(to_json(pair));
    }
  }
  const int asked = pairs * static_cast<int>(request.question.problems.size());
  const double us = record.problems.empty() || record.problems[0].decisive() == nullptr ||
                            record.problems[0].decisive()->conclusion.times.empty()
                        ? 0
                        : record.problems[0].decisive()->conclusion.times[0].median_us;
  const double aim = us > 100 ? 0.0015 : spacing == measure::Spacing::back_to_back ? 0.005 : 0.008;
  Row row{.target = fmt::format("A/A {} {}, {} races", cell.name, spacing_name, asked),
          .bound = "0 faster or slower, <= 3 % slightly, >= 95 % hold 1",
          .measured = fmt::format(
              "{} of {} faster or slower, {} slightly, {} exclude 1; half-width {:.2f} % (aim "
              "{:.2f})",
              words, races, slight, apart, widths.empty() ? NAN : 100 * stats::median(widths),
              100 * aim),
          .ok = races == asked && words == 0 && slight <= 0.03 * races && apart <= 0.05 * races};
  row.notes.push_back(fmt::format(
      "{} {}: {:.1f} us a launch, spread within a process {:.2f} %, {:.0f} s of wall time, "
      "{:.1f} s timed.",
      cell.name, spacing_name, us, within.empty() ? 0 : 100 * stats::median(within),
      record.totals.wall_seconds, record.totals.timed_seconds));
  row.details = {{"races", list},
                 {"launch_us", us},
                 {"wall_seconds", record.totals.wall_seconds},
                 {"timed_seconds", record.totals.timed_seconds}};
  for (const Finding& finding : record.findings)
    if (finding.code != "throttled") row.notes.push_back(finding.code + ": " + finding.sentence);
  return std::vector<Row>{std::move(row)};
}

}  // namespace

// The host makes inputs and references anew for each problem: seconds for the large ones, which are
// fewer.
template <measure::Spacing spacing>
Result<std::vector<Row>> measure_gpu_same_m1(const Context& context) {
  return measure(context, {"m1_qkv", gpu_shape(1, 6144, 4096), 4, 25}, spacing);
}
template <measure::Spacing spacing>
Result<std::vector<Row>> measure_gpu_same_m16(const Context& context) {
  return measure(context, {"m16_up", gpu_shape(16, 28672, 4096), 2, 50}, spacing);
}
template <measure::Spacing spacing>
Result<std::vector<Row>> measure_gpu_same_large(const Context& context) {
  return measure(context, {"m4096", gpu_shape(4096, 4096, 8192), 2, 50}, spacing);
}

#define ASSAY_SPACINGS(measure_cell)                                                              \
  template Result<std::vector<Row>> measure_cell<measure::Spacing::chain>(const Context&);        \
  template Result<std::vector<Row>> measure_cell<measure::Spacing::back_to_back>(const Context&); \
  template Result<std::vector<Row>> measure_cell<measure::Spacing::isolated>(const Context&);
ASSAY_SPACINGS(measure_gpu_same_m1)
ASSAY_SPACINGS(measure_gpu_same_m16)
ASSAY_SPACINGS(measure_gpu_same_large)
#undef ASSAY_SPACINGS

}  // namespace assay::bench
