// A/A: a stock kernel against a copy of itself. Whatever differs is the method's own error.

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "bench/runs.h"
#include "bench/share.h"

namespace assay::bench {
namespace {

struct Side {
  std::string provider, kernel;
  std::vector<gemm::Shape> shapes;
  int races = 0, few = 0;  // Idle; as many again with the other core loaded.
  bool is_narrow = false;  // Has time for narrow intervals, and counts among those that end `same`.
};

gemm::Shape shape(int64_t m, int64_t n, int64_t k, bool constant) {
  gemm::Shape made{.m = m, .n = n, .k = k};
  if (constant) made.constant = {"b"};
  return made;
}

// Compute-bound ones with m of 64 and more, memory-bound ones below: launches of 0.2 to 0.6 ms, so
// that many rounds fit into the time.
std::vector<gemm::Shape> shapes(bool constant) {
  return {shape(128, 256, 256, constant), shape(4, 512, 1024, constant),
          shape(192, 256, 320, constant), shape(16, 512, 768, constant),
          shape(192, 384, 192, constant), shape(8, 1024, 512, constant),
          shape(64, 512, 384, constant),  shape(2, 1024, 512, constant),
          shape(129, 255, 300, constant), shape(16, 768, 512, constant)};
}

std::vector<Side> sides() {
  const std::vector<gemm::Shape> one_row = {shape(1, 1024, 1024, false), shape(1, 1024, 768, true),
                                            shape(1, 512, 2048, false), shape(1, 2048, 512, true),
                                            shape(1, 1000, 1500, false)};
  return {{"openblas", "sgemm", shapes(false), 20, 1, true},
          {"openblas", "sgemv", one_row, 10, 1, true},
          {"onednn", "matmul", shapes(false), 15, 1, true},
          {"onednn", "matmul_prepared", shapes(true), 15, 1, false}};
}

// Of those whose words are counted: more than a sweep spends, which claims nothing of copies.
constexpr double kNarrowSeconds = 20;

struct Tally {
  int races = 0, missing = 0, apart = 0, wrong_words = 0, idle_plain = 0, idle_plain_same = 0;
  std::vector<Pair> pairs;

  void add(const std::vector<Pair>& more, int expected, bool idle_plain_ones) {
    races += expected;
    missing += expected - static_cast<int>(more.size());
    for (const Pair& pair : more) {
      const stats::Verdict& verdict = pair.verdict;
      if (verdict.has_interval() && (verdict.low > 1 || verdict.high < 1)) ++apart;
      if (verdict.word == stats::Word::faster || verdict.word == stats::Word::slower) ++wrong_words;
      if (idle_plain_ones && verdict.word == stats::Word::same) ++idle_plain_same;
      pairs.push_back(pair);
    }
    if (idle_plain_ones) idle_plain += expected;
  }
};

}  // namespace

template <Company company>
Result<std::vector<Row>> measure_same(const Context& context) {
  constexpr bool kApart = company == Company::two_processes;
  const std::string name = kApart ? "A/A across two processes" : "A/A";
  Tally tally;
  Json details = Json::array();
  std::vector<std::string> notes;
  int all = 0;
  for (const Side& side : sides()) all += 2 * context.count(side.races, side.few);
  const Share share = share_of(context, all);
  int before = 0;  // Races of the sides before.
  for (const bool loaded : {false, true}) {
    for (const Side& side : sides()) {
      const int all_races = context.count(side.races, side.few);
      const int first = std::clamp(share.first - before, 0, all_races);
      const int end = std::clamp(share.end - before, 0, all_races);
      const int races = end - first;
      before += all_races;
      if (races == 0) continue;
      sweep::Request request = make_request(context,
                                            fmt::format("same_{}{}_{}", kApart ? "across_" : "",
                                                        side.kernel, loaded ? "loaded" : "idle"),
                                            {});
      ASSAY_TRY(request.pool.providers, with_copy(context, side.provider));
      if (kApart) request.pool.apart = {side.provider + "_copy"};
      request.pool.filter = fmt::format("name == '{}'", side.kernel);
      request.effort.exhaustive = true;  // Neither is dropped, whatever the race sees.
      if (!loaded && side.is_narrow)
        request.effort.budget_seconds = kNarrowSeconds * static_cast<double>(races);
      ASSAY_TRY(const auto problems, repeated(side.shapes, all_races));
      request.question.problems = {problems.begin() + first, problems.begin() + end};
      std::optional<Subprocess> load;
      if (loaded) {
        ASSAY_TRY(load, load_other_core());
      }
      ASSAY_TRY(const RunRecord record, run(request));
      load.reset();
      const auto pairs = pairs_of(record, side.provider + "_copy", side.provider);
      tally.add(pairs, races, !loaded && side.is_narrow);
      double clean = 0;
      int cut = 0;
      Json list = Json::array();
      for (const Pair& pair : pairs) {
        clean += pair.clean_share / static_cast<double>(pairs.size());
        cut += pair.rounds < pair.wanted ? 1 : 0;
        list.push_back(to_json(pair));
      }
      const std::string where = loaded ? "other core loaded" : "idle";
      details.push_back({{"kernel", side.kernel},
                         {"loaded", loaded},
                         {"races", list},
                         {"wall_seconds", record.totals.wall_seconds},
                         {"timed_seconds", record.totals.timed_seconds},
                         {"bursts", bursts_of(record)}});
      notes.push_back(fmt::format(
          "{} {} {}, {}: {} races, half-width {}, {:.0f} % of rounds clean, {} cut by the budget.",
          name, side.provider, side.kernel, where, pairs.size(), widths_text(pairs), 100 * clean,
          cut));
    }
  }
  for (const Pair& pair : tally.pairs)
    if (pair.verdict.has_interval() && (pair.verdict.low > 1 || pair.verdict.high < 1))
      notes.push_back(fmt::format("{} {}: [{:.4f}, {:.4f}] excludes 1.", name, pair.problem,
                                  pair.verdict.low, pair.verdict.high));
  // 4 of 120, and of fewer as many as that share allows, rounded up.
  const int allowed = (4 * tally.races + 119) / 120;
  Row apart{
      .target = fmt::format("{}, {} races: intervals that exclude 1", name, tally.races),
      .bound = fmt::format("<= {}", allowed),
      .measured = fmt::format("{}{}", tally.apart,
                              tally.missing ? fmt::format(", {} not raced", tally.missing) : ""),
      .ok = tally.apart <= allowed && tally.missing == 0};
  apart.notes = std::move(notes);
  apart.notes.insert(apart.notes.begin(),
                     fmt::format("{} half-widths over all: {}.", name, widths_text(tally.pairs)));
  apart.details = std::move(details);
  const Row words{.target = name + ": called faster or slower",
                  .bound = "none",
                  .measured = fmt::format("{}", tally.wrong_words),
                  .ok = tally.wrong_words == 0};
  const double same_share = tally.idle_plain ? 1.0 * tally.idle_plain_same / tally.idle_plain : 0;
  constexpr double kLeastSame = kApart ? 0.6 : 0.8;
  const Row same{.target = name + ": idle ones without preparation that end `same`",
                 .bound = fmt::format(">= {:.0f} %", 100 * kLeastSame),
                 .measured = fmt::format("{:.0f} % of {}", 100 * same_share, tally.idle_plain),
                 .ok = same_share >= kLeastSame};
  return std::vector<Row>{std::move(apart), words, same};
}

template Result<std::vector<Row>> measure_same<Company::one_process>(const Context& context);
template Result<std::vector<Row>> measure_same<Company::two_processes>(const Context& context);

}  // namespace assay::bench
