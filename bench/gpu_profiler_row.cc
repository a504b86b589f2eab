// The same CUTLASS kernels on the same problems: raced here, and timed by cutlass_profiler.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/base/file.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "bench/gpu.h"
#include "bench/gpu_sources.h"
#include "bench/runs.h"

namespace assay::bench {
namespace {

constexpr int kFewestKernels = 26;
constexpr size_t kMostBytes = 16 << 20;
// Of the names that cutlass_profiler has for them.
constexpr std::string_view kPrefix = "cutlass3x_sm90_tensorop_gemm_f16_f16_f32_void_f16_";
constexpr std::string_view kStreamK = "stream_k_";

// Those of the suite `transformer`.
constexpr std::array<std::array<int64_t, 3>, 5> kSizes = {{{8192, 16384, 4096},
                                                           {16384, 16384, 8192},
                                                           {4096, 4096, 8192},
                                                           {4096, 4096, 4096},
                                                           {8192, 4096, 4096}}};

std::span<const std::array<int64_t, 3>> sizes(const Context& context) {
  return std::span(kSizes).last(
      static_cast<size_t>(context.count(static_cast<int>(kSizes.size()), 2)));
}

std::string environment_value(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

// What cutlass_profiler did, by problem.
struct Profiled {
  double seconds = 0;  // Of the whole command.
  std::vector<std::string> winners;
  std::set<std::string> kernels;  // That it timed on the first problem.
};

Result<Profiled> profile(const Context& context, const std::string& binary,
                         const std::string& extra) {
  const std::string folder = (context.folder / "gpu_profiler_tool").string();
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  SubprocessOptions options;
  options.argv = {assay_program(), "sweep", "--profiler", "--profiler-bin",        binary,
                  "--device",      "gpu",   "--lock-dir", context.folder.string(), "--output-dir",
                  folder};
  for (const auto& [m, n, k] : sizes(context)) {
    options.argv.emplace_back("--shape");
    options.argv.push_back(fmt::format("m={},n={},k={},dtype=f16,layout=tn", m, n, k));
  }
  if (!extra.empty()) options.argv.push_back("--extra-profiler-flags=" + extra);
  options.env = child_environment();
  Profiled profiled;
  const int64_t start = monotonic_ns();
  ASSAY_TRY(const CommandOutput output, run_command(options, {.timeout_ns = 900'000'000'000}));
  profiled.seconds = static_cast<double>(monotonic_ns() - start) * 1e-9;
  if (output.status.kind != ExitStatus::Kind::exited || output.status.code != 0)
    return fail(ErrorCode::failed, "assay sweep --profiler {}: {}", output.status.describe(),
                sanitize(output.err, 1000));
  const std::string file = folder + "/cutlass_profiler_results.json";
  ASSAY_TRY(const std::string text, read_file(file, kMostBytes));
  ASSAY_TRY(const Json json, parse_json(text, file));
  for (const Json& result : json.value("results", Json::array())) {
    profiled.winners.push_back(result.value("kernel", ""));
    if (profiled.winners.size() > 1) continue;
    ASSAY_TRY(const std::string report,
              read_file(folder + "/" + result.value("csv", ""), kMostBytes));
    for (const std::string_view line : split(report, '\n'))
      for (const std::string_view field : split(line, ','))
        if (field.starts_with(kPrefix)) profiled.kernels.emplace(field);
  }
  if (profiled.winners.size() != sizes(context).size())
    return fail(ErrorCode::failed, "cutlass_profiler has a winner for {} of {} problems",
                profiled.winners.size(), sizes(context).size());
  return profiled;
}

// The design of a stock name as our rows are named: "128x256x64_2x1_pingpong_tma_persistent"; empty
// for one that is of another kind.
std::string row_name(std::string_view stock) {
  const std::vector<std::string_view> words = split(stock.substr(kPrefix.size()), '_');
  // TILE, CLUSTERx1, 0, tnn, align8, [stream, k,] warpspecialized, SCHEDULE, epi, tma
  const bool streams = stock.find(kStreamK) != std::string_view::npos;
  const size_t at = streams ? 7 : 5;
  if (words.size() != at + 4 || words[2] != "0" || words[3] != "tnn" || words[4] != "align8" ||
      words[at] != "warpspecialized" || words[at + 2] != "epi" || words[at + 3] != "tma" ||
      !words[1].ends_with("x1"))
    return {};
  return fmt::format("{}_{}_{}_tma_{}", words[0], words[1].substr(0, words[1].size() - 2),
                     words[at + 1], streams ? "stream_k" : "persistent");
}

Result<std::vector<Problem>> problems(const Context& context) {
  std::vector<Problem> all;
  for (const auto& [m, n, k] : sizes(context)) {
    ASSAY_TRY(all.emplace_back(), gemm::problem(gpu_shape(m, n, k)));
  }
  return all;
}

// Back to back, as cutlass_profiler times.
Result<sweep::Request> request_of(const Context& context, const std::string& name,
                                  const std::string& pool, const std::string& filter) {
  ASSAY_TRY(sweep::Request request,
            make_gpu_request(context, name, measure::Spacing::back_to_back));
  request.pool.providers = {{"cutlass", "", {{"pool", pool}}}};
  request.pool.filter = filter;
  ASSAY_TRY(request.question.problems, problems(context));
  return request;
}

struct Raced {
  double seconds = 0;  // All problems, proof included.
  RunRecord record;
  std::vector<std::string> winners;  // Ids.
  // On every problem, at least: raced, or refused as their accumulators spill, which one cannot
  // time and mean it. Of them so many spill.
  int kernels = 0, spill = 0;
};

Result<Raced> race(const Context& context, const std::string& pool, const std::string& filter) {
  ASSAY_TRY(sweep::Request request, request_of(context, "gpu_profiler_race", pool, filter));
  request.effort.confirm = false;  // As cutlass_profiler: the answer alone.
  Raced raced;
  const int64_t start = monotonic_ns();
  ASSAY_TRY(raced.record, run(request));
  raced.seconds = static_cast<double>(monotonic_ns() - start) * 1e-9;
  raced.kernels = kFewestKernels * 100;
  for (const ProblemRecord& problem : raced.record.problems) {
    const KernelOutcome* best = nullptr;
    int spill = 0;
    for (const KernelOutcome& kernel : problem.kernels) {
      if (!is_timed(kernel.ending) || !kernel.race) {
        const std::string why = ending_sentence(kernel.ending);
        if (why.find("spill") == std::string::npos)
          return fail(ErrorCode::failed, "{} of {}: {}", kernel.name, problem.name, why);
        ++spill;
        continue;
      }
      if (best == nullptr || kernel.race->median_us < best->race->median_us) best = &kernel;
    }
    if (best == nullptr) return fail(ErrorCode::failed, "no kernel of {} was timed", problem.name);
    raced.winners.push_back(best->id);
    raced.kernels = std::min(raced.kernels, static_cast<int>(problem.kernels.size()));
    raced.spill = std::max(raced.spill, spill);
  }
  return raced;
}

// The kernel that cutlass_profiler calls so; null if it did not take part.
const KernelOutcome* find_stock(const ProblemRecord& problem, const std::string& name) {
  for (const KernelOutcome& kernel : problem.kernels)
    if (kernel.artifact_facts.json().value("kernel", "") == name) return &kernel;
  return nullptr;
}

// One way of calling cutlass_profiler, with flags of its own, and ours.
struct Way {
  const char* words;
  const char* flags;
  double share;  // Of its time that ours may take.
  const char* bound;
};
constexpr Way kAsItComes = {"as it comes", "", 1.0 / 6, "1/6"};
constexpr Way kWithoutSleeps = {"without its sleeps", "--sleep-duration=0", 1.0 / 2, "1/2"};

struct Sides {
  Profiled theirs;
  Raced ours;
  std::string pool;
  Row row;
};

Result<Sides> race_against(const Context& context, const Way& way) {
  const std::string binary = environment_value("CUTLASS_PROFILER_BIN"),
                    pool = environment_value("ASSAY_CUTLASS_POOL");
  if (binary.empty() || pool.empty())
    return fail(ErrorCode::missing,
                "set CUTLASS_PROFILER_BIN (scripts/build-cutlass-profiler) and ASSAY_CUTLASS_POOL "
                "(scripts/build-cutlass-pool) to what has the same kernels");
  Sides sides;
  sides.pool = pool;
  ASSAY_TRY(sides.theirs, profile(context, binary, way.flags));
  std::string filter;
  for (const std::string& stock : sides.theirs.kernels)
    if (const std::string name = row_name(stock); !name.empty())
      filter += fmt::format("{}name == '{}'", filter.empty() ? "" : " or ", name);
  if (filter.empty()) return fail(ErrorCode::failed, "cutlass_profiler has no kernel that is ours");
  ASSAY_TRY(sides.ours, race(context, pool, filter));

  const Raced& ours = sides.ours;
  Row& row = sides.row;
  row.target = fmt::format("racing {} CUTLASS kernels, {} shapes, against cutlass_profiler {}",
                           ours.kernels, sizes(context).size(), way.words);
  row.bound = fmt::format("<= {} of its time, of {} kernels", way.bound, kFewestKernels);
  row.measured = fmt::format("{:.1f} s of {:.1f} s: {:.2f}", ours.seconds, sides.theirs.seconds,
                             ours.seconds / sides.theirs.seconds);
  row.ok = ours.seconds <= way.share * sides.theirs.seconds && ours.kernels >= kFewestKernels;
  row.details = {{"seconds", ours.seconds},
                 {"timed_seconds", ours.record.totals.timed_seconds},
                 {"profiler_seconds", sides.theirs.seconds},
                 {"profiler_kernels", sides.theirs.kernels},
                 {"profiler_winners", sides.theirs.winners},
                 {"winners", ours.winners},
                 {"kernels", ours.kernels},
                 {"spill", ours.spill}};
  // What follows takes minutes more.
  ASSAY_TRY(write_file_atomic((context.folder / "gpu_profiler.json").string(),
                              Json(row.details).dump(2) + '\n'));
  return sides;
}

// Where the two name different winners, those are raced once more, with a confirmation.
Result<Row> race_winners(const Context& context, const Sides& sides) {
  Row same{.target = "its winner against ours, raced once more with a confirmation",
           .bound = "ours never shown slower by 1 %"};
  double largest = 0;
  std::string words;
  Json pairs = Json::array();
  same.ok = true;
  for (size_t i = 0; i < sides.ours.winners.size(); ++i) {
    const ProblemRecord& problem = sides.ours.record.problems[i];
    const auto ours = std::ranges::find(problem.kernels, sides.ours.winners[i], &KernelOutcome::id);
    const KernelOutcome* const theirs = find_stock(problem, sides.theirs.winners[i]);
    if (theirs == nullptr)
      return fail(ErrorCode::failed, "{} has no kernel {}", problem.name, sides.theirs.winners[i]);
    const std::string where = fmt::format("m{} n{} k{}", sizes(context)[i][0], sizes(context)[i][1],
                                          sizes(context)[i][2]);
    if (theirs->id == ours->id) {
      words += fmt::format("; {}: one kernel, {}", where, ours->name);
      continue;
    }
    ASSAY_TRY(sweep::Request request,
              request_of(context, fmt::format("gpu_profiler_pair{}", i), sides.pool,
                         fmt::format("name == '{}' or name == '{}'", ours->name, theirs->name)));
    request.question.problems = {request.question.problems[i]};
    request.effort.exhaustive = true;
    ASSAY_TRY(const RunRecord record, run(request));
    const auto pair = judge_pair(record.problems.front(), record.options, ours->id, theirs->id);
    if (!pair) return fail(ErrorCode::failed, "{}: the two had no confirmation", where);
    // Its time over ours: above 1 ours is faster.
    const stats::Verdict& verdict = pair->verdict;
    largest = std::max(largest, 1 / verdict.ratio);
    same.ok = same.ok && verdict.high >= 1 - request.effort.margin;
    words += fmt::format("; {}: {} {:.3f} [{:.3f}, {:.3f}] x against {}", where, ours->name,
                         verdict.ratio, verdict.low, verdict.high, theirs->name);
    pairs.push_back(to_json(*pair));
  }
  same.measured = largest == 0 ? "the same kernels"
                               : fmt::format("{:.3f} x its winner's time at worst", largest);
  same.notes.push_back("cutlass_profiler: " + words.substr(std::min<size_t>(words.size(), 2)) +
                       ".");
  same.details = {{"pairs", pairs}};
  return same;
}

Result<std::vector<Row>> measure_way(const Context& context, const Way& way) {
  ASSAY_TRY(const Sides sides, race_against(context, way));
  ASSAY_TRY(Row winners, race_winners(context, sides));
  return std::vector<Row>{sides.row, std::move(winners)};
}

}  // namespace

// A call each: of the five shapes it takes minutes.
Result<std::vector<Row>> measure_gpu_profiler(const Context& context) {
  return measure_way(context, kAsItComes);
}
Result<std::vector<Row>> measure_gpu_profiler_no_sleep(const Context& context) {
  return measure_way(context, kWithoutSleeps);
}

}  // namespace assay::bench
