// Sensitivity: a copy that is slower by a known share must be called so.

#include <fmt/format.h>

#include "bench/runs.h"
#include "bench/share.h"

namespace assay::bench {
namespace {

struct Case {
  double slowdown, margin, wanted;
  double seconds;  // Of timing, for each race.
};

template <Company company>
Result<Row> measure_case(const Context& context, const Case& one) {
  constexpr bool kApart = company == Company::two_processes;
  ASSAY_TRY(const auto providers, with_copy(context, "openblas"));
  const int all_races = context.count(50, 2);
  const Share share = share_of(context, all_races);
  const int races = share.count();
  const auto name =
      fmt::format("slowed_{}{:.0f}_per_cent", kApart ? "across_" : "", 100 * one.slowdown);
  sweep::Request request = make_request(context, name, {"openblas"});
  request.caller.environment =
      child_environment("slowed:" + providers.back().settings.at("library"));
  if (kApart) request.pool.apart = {"slowed"};
  request.effort.margin = one.margin;
  request.pool.filter =
      fmt::format("provider == 'openblas' and name == 'sgemm' or slowdown == {:.2f}", one.slowdown);
  request.effort.exhaustive = true;
  request.effort.budget_seconds = one.seconds * races;
  const std::vector<gemm::Shape> shapes = {{.m = 128, .n = 256, .k = 256},
                                           {.m = 16, .n = 512, .k = 512},
                                           {.m = 192, .n = 256, .k = 320},
                                           {.m = 4, .n = 1024, .k = 512},
                                           {.m = 64, .n = 512, .k = 384}};
  ASSAY_TRY(const auto problems, repeated(shapes, all_races));
  request.question.problems = {problems.begin() + share.first, problems.begin() + share.end};
  ASSAY_TRY(const RunRecord record, run(request));
  const std::vector<Pair> pairs = pairs_of(record, "slowed", "openblas");
  int slower = 0, faster = 0;
  Json list = Json::array();
  for (const Pair& pair : pairs) {
    const stats::Word word = pair.verdict.word;
    if (word == stats::Word::slower) ++slower;
    if (word == stats::Word::faster || word == stats::Word::slightly_faster) ++faster;
    list.push_back(to_json(pair));
  }
  const double shown = static_cast<double>(slower) / races;
  Row row{.target = fmt::format("sensitivity{}: slowed by {:.0f} % at margin {:.1f} %, {} races",
                                kApart ? " across two processes" : "", 100 * one.slowdown,
                                100 * one.margin, races),
          .bound = fmt::format(">= {:.0f} % slower, 0 faster", 100 * one.wanted),
          .measured = fmt::format("{:.0f} % slower, {} faster", 100 * shown, faster),
          .ok = shown >= one.wanted && faster == 0};
  row.notes.push_back(fmt::format("slowed by {:.0f} %: {} of {} confirmed, half-width {}.",
                                  100 * one.slowdown, pairs.size(), races, widths_text(pairs)));
  row.details = std::move(list);
  return row;
}

}  // namespace

template <Company company>
Result<std::vector<Row>> measure_sensitivity(const Context& context) {
  // Two processes share less, so that their intervals are wider.
  constexpr double kMarginFactor = company == Company::two_processes ? 2 : 1;
  std::vector<Row> rows;
  for (const Case& one :
       {Case{0.02, kMarginFactor * 0.005, 0.90, 20}, Case{0.05, kMarginFactor * 0.01, 0.98, 5}}) {
    ASSAY_TRY(rows.emplace_back(), measure_case<company>(context, one));
  }
  return rows;
}

template Result<std::vector<Row>> measure_sensitivity<Company::one_process>(const Context& context);
template Result<std::vector<Row>> measure_sensitivity<Company::two_processes>(
    const Context& context);

}  // namespace assay::bench
