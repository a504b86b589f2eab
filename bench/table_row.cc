// Choosing from a tuned table: what a program that meets a shape for the first time pays.

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/random.h"
#include "assay/device/cpu/cpu_device.h"
#include "assay/op/gemm/gemm.h"
#include "assay/select/tuned_table.h"
#include "assay/stats/robust.h"
#include "bench/allocations.h"
#include "bench/row.h"
#include "bench/synthetic_family.h"

namespace assay::bench {
namespace {

constexpr size_t kProblems = 10'000;
constexpr size_t kChoices = 5;  // Of each: about as many as a sweep confirms.

// Problems such as models have them, all different: twice as many as are tuned, in random order.
Result<std::vector<Problem>> make_problems() {
  const CounterRandom random{.key = 20};
  std::vector<Problem> problems;
  std::unordered_set<std::string> seen;
  for (uint64_t i = 0; problems.size() < 2 * kProblems; i += 3) {
    const auto size = [&](uint64_t at, uint64_t most) {
      return static_cast<int64_t>(1 + random.below(at, most));
    };
    ASSAY_TRY(Problem problem,
              gemm::problem(gemm::Shape{
                  .m = size(i, 512), .n = 64 * size(i + 1, 256), .k = 64 * size(i + 2, 256)}));
    if (seen.insert(problem.signature()).second) problems.push_back(std::move(problem));
  }
  return problems;
}

Result<TunedTable> make_table(const Catalog& catalog, std::span<const Problem> tuned) {
  TableContents contents;
  ASSAY_TRY(const Found found, catalog.get_kernels(tuned.front()));
  for (const Kernel& kernel : found.kernels) {
    ASSAY_TRY(const Artifact artifact, kernel.compile(tuned.front(), cpu::host_target(), {}));
    TableKernel& made = contents.kernels.emplace_back();
    made.metadata = kernel.metadata();
    made.artifact_hash = artifact.hash;
    made.artifact_facts = artifact.facts;
    made.sample = tuned.front().to_json();
  }
  const CounterRandom random{.key = 21};
  for (size_t i = 0; i < tuned.size(); ++i) {
    std::vector<TableChoice> choices;
    for (size_t rank = 0; rank < kChoices; ++rank)
      choices.push_back(
          {static_cast<uint32_t>(random.below(kChoices * i + rank, contents.kernels.size())),
           1.0 + 0.05 * static_cast<double>(rank)});
    contents.add(tuned[i], std::move(choices));
  }
  // Through its file, as programs have it.
  ASSAY_TRY(const std::string bytes, table_bytes(contents));
  ASSAY_TRY(TableContents read, parse_table(bytes, "bench"));
  return TunedTable::create(std::move(read), catalog);
}

struct Measured {
  double nanoseconds = 0;   // Median over passes of the mean look-up.
  int64_t allocations = 0;  // In one pass.
};

// right(item): asks, and says whether the answer is the one that must come.
template <class Items, class Ask>
Result<Measured> measure(const Items& items, int passes, const Ask& right) {
  std::vector<double> times;
  Measured measured;
  for (int pass = 0; pass < passes; ++pass) {
    size_t answered = 0;
    const int64_t allocated = allocations();
    const int64_t start = monotonic_ns();
    for (const auto& item : items) answered += right(item) ? 1 : 0;
    const int64_t spent = monotonic_ns() - start;
    measured.allocations = allocations() - allocated;
    times.push_back(static_cast<double>(spent) / static_cast<double>(items.size()));
    if (answered != items.size())
      return fail(ErrorCode::internal, "{} of {} look-ups gave what they must", answered,
                  items.size());
  }
  measured.nanoseconds = stats::median(times);
  return measured;
}

Row row_of(std::string target, std::string bound, const Measured& measured, bool ok) {
  Row row{.target = std::move(target),
          .bound = std::move(bound),
          .measured =
              fmt::format("{:.1f} ns, {} allocations", measured.nanoseconds, measured.allocations),
          .ok = ok && measured.allocations == 0};
  row.details = {{"ns", measured.nanoseconds}, {"allocations", measured.allocations}};
  return row;
}

}  // namespace

Result<std::vector<Row>> measure_table(const Context& context) {
  ASSAY_TRY(const std::vector<Problem> problems, make_problems());
  const std::span<const Problem> tuned = std::span(problems).first(kProblems);
  const std::span<const Problem> others = std::span(problems).last(kProblems);
  Catalog catalog;
  catalog.add("bench", ProviderRole::user, make_synthetic_family(100, Synthetic::nothing));
  ASSAY_TRY(const TunedTable table, make_table(catalog, tuned));
  const int passes = context.count(201, 21);
  // In another order than the table's: nobody asks in that.
  std::vector<Problem> asked(tuned.begin(), tuned.end());
  const CounterRandom random{.key = 22};
  for (size_t i = asked.size(); i > 1; --i) std::swap(asked[i - 1], asked[random.below(i, i)]);
  const Target target = cpu::host_target();
  const auto by_rule = [&](ChoiceRule rule) {
    return [&table, &target, rule](const Problem& problem) {
      const auto choice = table.choose(problem, target);
      return choice && choice->rule == rule;
    };
  };
  ASSAY_TRY(const Measured hits, measure(asked, passes, by_rule(ChoiceRule::exact)));
  ASSAY_TRY(const Measured misses, measure(others, passes, by_rule(ChoiceRule::nearest)));
  std::vector<Row> rows;
  rows.push_back(row_of("choice from a tuned table of 10,000 problems", "<= 50 ns, none", hits,
                        hits.nanoseconds <= 50));
  rows.push_back(
      row_of("the same for one that was not tuned: by its neighbours, and whether it can", "none",
             misses, true));
  rows.front().notes.push_back(fmt::format(
      "table: median of {} passes, each over 10,000 different problems in random order, so that "
      "little of them is in the first caches; allocations are those of one pass, counted in "
      "malloc.",
      passes));
  return rows;
}

}  // namespace assay::bench
