// Racing against measuring everything: what does dropping early cost, and what does it save?

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/runs.h"

namespace assay::bench {
namespace {

constexpr double kExhaustiveSeconds = 130;

struct Outcome {
  const KernelOutcome* winner = nullptr;
  int pool = 0, rounds = 0;  // Of the decisive confirmation, in each process.
};

Outcome outcome_of(const ProblemRecord& problem) {
  Outcome outcome{problem.winner()};
  if (const Confirmation* decisive = problem.decisive()) outcome.rounds = decisive->rounds;
  for (const KernelOutcome& kernel : problem.kernels)
    if (is_timed(kernel.ending)) ++outcome.pool;
  return outcome;
}

}  // namespace

Result<std::vector<Row>> measure_racing(const Context& context) {
  const std::vector<gemm::Shape> all = {{.m = 128, .n = 256, .k = 256},
                                        {.m = 16, .n = 512, .k = 1024},
                                        {.m = 4, .n = 1024, .k = 512, .constant = {"b"}}};
  const std::vector<gemm::Shape> shapes(all.begin(), all.begin() + context.count(3, 1));
  std::vector<RunRecord> records;
  for (const bool exhaustive : {false, true}) {
    sweep::Request request = make_request(context, exhaustive ? "exhaustive" : "racing",
                                          {"native_cpu", "openblas", "onednn"});
    request.effort.exhaustive = exhaustive;
    // Racing has what a sweep gives it, exhaustive what gives everyone as many rounds.
    request.effort.budget_seconds = (exhaustive ? kExhaustiveSeconds : sweep::kSecondsPerProblem) *
                                    static_cast<double>(shapes.size());
    ASSAY_TRY(request.question.problems, repeated(shapes, static_cast<int>(shapes.size())));
    ASSAY_TRY(records.emplace_back(), run(request));
  }
  Row regret{.target = "racing against --exhaustive: both winners re-raced, lowest end",
             .bound = "> -2 %",
             .ok = true};
  Row cost{.target = "racing: share of exhaustive's timed seconds", .bound = "<= 1/4"};
  regret.details = Json::array();
  double lowest = HUGE_VAL;
  int smallest_pool = 1 << 30;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const ProblemRecord& raced = records[0].problems[i];
    const Outcome mine = outcome_of(raced), full = outcome_of(records[1].problems[i]);
    if (mine.winner == nullptr || full.winner == nullptr)
      return fail(ErrorCode::failed, "{} has no winner", raced.name);
    smallest_pool = std::min({smallest_pool, mine.pool, full.pool});
    if (full.rounds < mine.rounds) {
      regret.ok = false;
      regret.notes.push_back(fmt::format("racing {}: {} rounds of everyone, {} of the finalists.",
                                         raced.name, full.rounds, mine.rounds));
    }
    double low = 0, ratio = 1;
    if (mine.winner->id != full.winner->id) {
      sweep::Request request =
          make_request(context, fmt::format("winners_{}", i), {"native_cpu", "openblas", "onednn"});
      request.pool.filter =
          fmt::format("({}) or ({})", only_this(*mine.winner), only_this(*full.winner));
      request.effort.exhaustive = true;
      ASSAY_TRY(request.question.problems, repeated({shapes[i]}, 1));
      request.effort.budget_seconds = sweep::kSecondsPerProblem;
      ASSAY_TRY(const RunRecord record, run(request));
      const auto pair =
          judge_pair(record.problems[0], record.options, mine.winner->id, full.winner->id);
      if (!pair) return fail(ErrorCode::failed, "the winners of {} were not raced", raced.name);
      low = std::log(pair->verdict.low);
      ratio = pair->verdict.ratio;
    }
    lowest = std::min(lowest, low);
    regret.ok = regret.ok && low > -2 * std::log1p(records[0].options.margin);
    regret.notes.push_back(fmt::format(
        "racing {}: pools of {} and {}; winners {} and {}: {:.4f} x, low end {:+.2f} %.",
        raced.name, mine.pool, full.pool, mine.winner->label(), full.winner->label(), ratio,
        100 * low));
    regret.details.push_back({{"problem", raced.name},
                              {"racing", mine.winner->label()},
                              {"exhaustive", full.winner->label()},
                              {"pool", mine.pool},
                              {"ratio", ratio},
                              {"low", low}});
  }
  if (smallest_pool < 40) {
    regret.ok = false;
    regret.notes.push_back(
        fmt::format("racing: the smallest pool has {} kernels, 40 are asked for.", smallest_pool));
  }
  regret.measured = fmt::format("{:+.2f} %", 100 * lowest);
  const double racing = records[0].totals.timed_seconds;
  const double exhaustive = records[1].totals.timed_seconds;
  cost.measured =
      fmt::format("{:.2f} ({:.1f} s of {:.1f} s)", racing / exhaustive, racing, exhaustive);
  cost.ok = racing <= exhaustive / 4;
  cost.details = {{"racing_seconds", racing},
                  {"exhaustive_seconds", exhaustive},
                  {"racing_wall_seconds", records[0].totals.wall_seconds},
                  {"exhaustive_wall_seconds", records[1].totals.wall_seconds}};
  return std::vector<Row>{std::move(regret), std::move(cost)};
}

}  // namespace assay::bench
