// Regret: what a program loses that runs problems by a table which was tuned on others. Half of
// some random problems are tuned; for each of the rest the table's choice races that problem's own
// best.

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "assay/base/random.h"
#include "assay/device/cpu/cpu_device.h"
#include "assay/kernel/metadata_identity.h"
#include "assay/select/tuned_table.h"
#include "assay/sweep/tabulate.h"
#include "bench/runs.h"

namespace assay::bench {
namespace {

// Chosen so that 200 problems and the races of half of them again take about half an hour.
constexpr double kTuningSeconds = 2, kRaceSeconds = 1.5;
constexpr int kProcesses = 3;
constexpr double kMostProducts = 1 << 25;

// Log-uniform, as sizes of models are: m of decoding and short prefills, n and k of small layers.
Result<std::vector<Problem>> make_problems(int count) {
  const CounterRandom random{.key = 40};
  std::vector<Problem> problems;
  for (uint64_t i = 0; static_cast<int>(problems.size()) < count; i += 3) {
    const auto log_uniform = [&](uint64_t at, double least, double most) {
      return least * std::exp2(random.uniform_unit(at) * std::log2(most / least));
    };
    const auto m = static_cast<int64_t>(std::lround(log_uniform(i, 1, 128)));
    const int64_t n = 32 * std::lround(log_uniform(i + 1, 4, 64));
    const int64_t k = 32 * std::lround(log_uniform(i + 2, 4, 64));
    if (static_cast<double>(m) * static_cast<double>(n * k) > kMostProducts) continue;
    // In turns, so that both halves have as many of each type.
    const DType dtype = problems.size() / 2 % 2 == 0 ? DType::f32 : DType::bf16;
    ASSAY_TRY(
        problems.emplace_back(),
        gemm::problem(gemm::Shape{.name = fmt::format("r{:03}_{}_m{}_n{}_k{}", problems.size(),
                                                      to_string(dtype), m, n, k),
                                  .m = m,
                                  .n = n,
                                  .k = k,
                                  .dtype = dtype,
                                  .constant = {"b"}}));
  }
  return problems;
}

// Those that race by default and have what they need.
std::vector<std::string> pool() {
  std::vector<std::string> names;
  for (const auto& provider : built_in_providers()) {
    const ProviderRole role = provider->info().role;
    if ((role == ProviderRole::stock || role == ProviderRole::ours) &&
        provider->availability({}).available)
      names.push_back(provider->info().name);
  }
  return names;
}

sweep::Request make_sweep(const Context& context, const std::string& name, double seconds) {
  sweep::Request request = make_request(context, name, pool());
  request.effort.processes = request.effort.most_processes = kProcesses;
  request.effort.budget_seconds = seconds;
  return request;
}

struct Case {
  std::string problem, choice, best, rule;
  double distance = 0;
  double regret = 0;  // Time of the choice over that of the best, less 1; infinite: refused.
};

// The choice against the problem's own best, in a race of the two.
Result<double> race_both(const Context& context, const Problem& problem, const Kernel& choice,
                         const KernelOutcome& best) {
  sweep::Request request = make_sweep(context, "regret_" + problem.name(), kRaceSeconds);
  const KernelMetadata& metadata = choice.metadata();
  request.pool.filter =
      fmt::format("({}) or ({})",
                  only_this(metadata.provider(), metadata.family(), design_json(metadata.design)),
                  only_this(best));
  request.effort.exhaustive = true;
  request.question.problems = {problem};
  ASSAY_TRY(const RunRecord record, run(request));
  const auto pair = judge_pair(record.problems[0], record.options, metadata.id(), best.id);
  if (!pair) return fail(ErrorCode::failed, "the two were not raced to the end");
  return 1 / pair->verdict.ratio - 1;
}

Result<Case> ask(const Context& context, const TunedTable& table, const Problem& problem,
                 const KernelOutcome& best) {
  Case asked{.problem = problem.name(), .best = best.label()};
  const auto choice = table.choose(problem, cpu::host_target());
  if (!choice) {
    asked.rule = "refused";
    asked.regret = HUGE_VAL;
    return asked;
  }
  const KernelMetadata& metadata = choice->kernel->metadata();
  asked.choice = metadata.provider() + "/" + metadata.name();
  asked.rule = to_string(choice->rule);
  asked.distance = choice->distance;
  if (metadata.id() == best.id) return asked;
  ASSAY_TRY(asked.regret, race_both(context, problem, *choice->kernel, best));
  return asked;
}

// The smallest of which at least this share are no larger.
double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::clamp<size_t>(rank, 1, values.size()) - 1];
}

Row row_of(const char* what, double measured, double bound) {
  return {.target = fmt::format("regret of a tuned table on problems not in it: {}", what),
          .bound = fmt::format("<= {:.0f} %", 100 * bound),
          .measured = fmt::format("{:.2f} %", 100 * measured),
          .ok = measured <= bound};
}

}  // namespace

Result<std::vector<Row>> measure_regret(const Context& context) {
  const int count = context.quick ? std::min(context.problems, 8) : context.problems;
  sweep::Request request = make_sweep(context, "regret_tuning", kTuningSeconds * count);
  ASSAY_TRY(request.question.problems, make_problems(count));
  ASSAY_TRY(const RunRecord record, run(request));

  // Every second one is tuned.
  RunRecord tuned = record;
  tuned.problems.clear();
  for (size_t i = 0; i < record.problems.size(); i += 2)
    tuned.problems.push_back(record.problems[i]);
  ASSAY_TRY(sweep::Tabulated tabulated, sweep::tabulate(request, tuned));
  Catalog catalog;
  const auto providers = built_in_providers();
  for (const auto& provider : providers) catalog.add(*provider);
  ASSAY_TRY(const TunedTable table, TunedTable::create(std::move(tabulated.contents), catalog));

  std::vector<Case> cases;
  std::vector<std::string> notes;
  for (size_t i = 1; i < record.problems.size(); i += 2) {
    const ProblemRecord& problem = record.problems[i];
    if (problem.winner() == nullptr) {
      notes.push_back(fmt::format("regret {}: no winner, left out.", problem.name));
      continue;
    }
    auto asked = ask(context, table, request.question.problems[i], *problem.winner());
    if (asked)
      cases.push_back(std::move(*asked));
    else
      notes.push_back(fmt::format("regret {}: {}", problem.name, asked.error().message));
  }
  if (cases.empty()) return fail(ErrorCode::failed, "no problem could be asked for");

  std::vector<double> regrets;
  Json details = Json::array();
  size_t same = 0;
  for (const Case& one : cases) {
    regrets.push_back(one.regret);
    same += one.choice == one.best ? 1 : 0;
    details.push_back({{"problem", one.problem},
                       {"rule", one.rule},
                       {"distance", one.distance},
                       {"choice", one.choice},
                       {"best", one.best},
                       {"regret", std::isfinite(one.regret) ? Json(one.regret) : Json()}});
  }
  std::vector<Row> rows = {row_of("median", quantile(regrets, 0.5), 0.02),
                           row_of("95th percentile", quantile(regrets, 0.95), 0.10)};
  // What could not be asked is not passed over in silence.
  if (!notes.empty()) rows.back().ok = false;
  rows.front().details = std::move(details);
  rows.front().notes = std::move(notes);
  rows.front().notes.push_back(fmt::format(
      "regret: {} problems tuned, {} others asked for; {} of these got their own best, mean {:.2f} "
      "%, worst {:.2f} %.",
      table.contents().problems.size(), cases.size(), same,
      100 * std::accumulate(regrets.begin(), regrets.end(), 0.0) /
          static_cast<double>(regrets.size()),
      100 * *std::max_element(regrets.begin(), regrets.end())));
  return rows;
}

}  // namespace assay::bench
