// Coverage: does an interval hold what other runs, each with processes of its own, find?

#include <cmath>

#include <fmt/format.h>

#include "bench/runs.h"
#include "bench/share.h"

namespace assay::bench {
namespace {

constexpr double kSeconds = 8;  // Of timing, for each race.

// Of one problem's repeats: how many intervals hold the mean of the other repeats.
int count_held(const std::vector<Pair>& repeats) {
  double sum = 0;
  for (const Pair& pair : repeats) sum += pair.log_ratio;
  int held = 0;
  for (const Pair& pair : repeats) {
    const double others = (sum - pair.log_ratio) / static_cast<double>(repeats.size() - 1);
    const double ratio = std::exp(others);
    if (pair.verdict.has_interval() && pair.verdict.low <= ratio && ratio <= pair.verdict.high)
      ++held;
  }
  return held;
}

}  // namespace

Result<std::vector<Row>> measure_coverage(const Context& context) {
  const std::vector<gemm::Shape> shapes = {{.m = 128, .n = 512, .k = 256},
                                           {.m = 8, .n = 1024, .k = 1024},
                                           {.m = 192, .n = 256, .k = 320},
                                           {.m = 16, .n = 512, .k = 768}};
  const int all_repeats = context.count(10, 2);  // Of each: 40 of four problems.
  const Share share = share_of(context, all_repeats);
  const int repeats = share.count();
  std::vector<std::vector<Pair>> found(shapes.size());
  for (int i = share.first; i < share.end; ++i) {
    sweep::Request request =
        make_request(context, fmt::format("coverage_{:02}", i), {"openblas", "onednn"});
    request.pool.filter = "name == 'sgemm' and provider == 'openblas' or name == 'matmul'";
    request.effort.exhaustive = true;  // Neither is dropped, whatever the race sees.
    // The machine's own moods last for seconds: problems that are confirmed side by side have
    // processes that are apart.
    request.effort.budget_seconds = kSeconds * static_cast<double>(shapes.size());
    ASSAY_TRY(request.question.problems, repeated(shapes, static_cast<int>(shapes.size())));
    ASSAY_TRY(const RunRecord record, run(request));
    for (size_t s = 0; s < record.problems.size(); ++s) {
      const ProblemRecord& problem = record.problems[s];
      const auto pair = judge_pair(problem, record.options, kernel_of(problem, "openblas"),
                                   kernel_of(problem, "onednn"));
      if (pair) found[s].push_back(*pair);
    }
  }
  int held = 0, all = 0;
  Row row{.target = fmt::format("coverage: {} repeats of two different stock kernels",
                                repeats * shapes.size()),
          .bound = ">= 95 %"};
  row.details = Json::array();
  for (const auto& pairs : found) {
    // A part of the repeats says nothing alone: its pairs are counted with those of the others.
    if (pairs.size() < 2 && is_whole(context))
      return fail(ErrorCode::failed, "too few repeats ended in a confirmation");
    const int here = pairs.size() < 2 ? 0 : count_held(pairs);
    held += here;
    all += repeats;
    double mean = 0, square = 0;
    Json list = Json::array();
    for (const Pair& pair : pairs) {
      mean += pair.log_ratio / static_cast<double>(pairs.size());
      list.push_back(to_json(pair));
    }
    for (const Pair& pair : pairs) square += (pair.log_ratio - mean) * (pair.log_ratio - mean);
    const double spread =
        pairs.size() < 2 ? 0 : std::sqrt(square / static_cast<double>(pairs.size() - 1));
    if (!pairs.empty())
      row.notes.push_back(fmt::format(
          "coverage {}: openblas / onednn {:.4f} x, {} of {} held, repeats spread by {:.2f} %, "
          "half-width {}.",
          pairs.front().shape, std::exp(mean), here, repeats, 100 * spread, widths_text(pairs)));
    row.details.push_back(std::move(list));
  }
  const double held_share = static_cast<double>(held) / all;
  row.measured = fmt::format("{:.1f} % of {}", 100 * held_share, all);
  row.ok = held_share >= 0.95;
  return std::vector<Row>{std::move(row)};
}

}  // namespace assay::bench
