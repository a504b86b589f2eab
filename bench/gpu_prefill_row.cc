// Our kernels for prefill against cuBLASLt on a GPU: the suite `transformer`, in a chain, and the
// two of each verdict at their own clocks where a power cap held the GPU back.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/gpu.h"
#include "bench/gpu_sources.h"

namespace assay::bench {
namespace {

constexpr double kLeastHigh = 0.995, kLeastAtOwnClock = 0.97, kGood = 1.02;
constexpr int kGoodOnes = 2;

Row in_a_chain(const RunRecord& record) {
  Row row{.target = fmt::format("prefill, {} problems, in a chain", record.problems.size()),
          .bound = fmt::format("no interval under {} x the best stock kernel, {} >= {}", kLeastHigh,
                               kGoodOnes, kGood)};
  double least = HUGE_VAL;
  int good = 0;
  std::string words;
  Json problems = Json::array();
  for (const ProblemRecord& problem : record.problems) {
    const PairVerdict* const pair = problem.headline();
    const std::string sentence = pair == nullptr || !pair->verdict.has_interval()
                                     ? "no verdict: " + problem.no_winner
                                     : fmt::format("{:.3f} [{:.3f}, {:.3f}]", pair->verdict.ratio,
                                                   pair->verdict.low, pair->verdict.high);
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", problem.name, sentence);
    if (pair == nullptr || !pair->verdict.has_interval()) {
      least = 0;
      continue;
    }
    least = std::min(least, pair->verdict.high);
    good += pair->verdict.ratio >= kGood ? 1 : 0;
    problems.push_back({{"problem", problem.name},
                        {"kernel", problem.label(pair->candidate)},
                        {"stock", problem.label(pair->other)},
                        {"ratio", pair->verdict.ratio},
                        {"low", pair->verdict.low},
                        {"high", pair->verdict.high}});
  }
  row.measured = fmt::format("least high end {:.3f}, {} >= {}", least, good, kGood);
  row.ok = least >= kLeastHigh && good >= kGoodOnes;
  row.notes.push_back(words + ".");
  row.details = {{"problems", problems}};
  return row;
}

Row at_own_clock(const RunRecord& record) {
  Row row{.target = "the same two alone, at their own clocks",
          .bound = fmt::format("none under {}, {} >= {}", kLeastAtOwnClock, kGoodOnes, kGood)};
  double least = HUGE_VAL;
  int good = 0, asked = 0;
  Json problems = Json::array();
  for (const ProblemRecord& problem : record.problems) {
    const auto ratio = problem.own_clock ? problem.own_clock->ratio() : std::nullopt;
    if (!ratio) continue;
    ++asked;
    least = std::min(least, *ratio);
    good += *ratio >= kGood ? 1 : 0;
    problems.push_back({{"problem", problem.name}, {"ratio", *ratio}});
    row.notes.push_back(fmt::format("{} at its own clock: {:.3f}.", problem.name, *ratio));
  }
  row.measured = asked == 0
                     ? "no power cap held the GPU back"
                     : fmt::format("{} asked: least {:.3f}, {} >= {}", asked, least, good, kGood);
  row.ok = asked > 0 && least >= kLeastAtOwnClock && good >= kGoodOnes;
  row.details = {{"problems", problems}};
  return row;
}

}  // namespace

Result<std::vector<Row>> measure_gpu_prefill(const Context& context) {
  ASSAY_TRY(const std::string gemm, source_file(context, "examples/hopper_gemm/gemm.cu"));
  ASSAY_TRY(const auto engine, source_file(context, "examples/hopper_gemm/copy_engine.h"));
  ASSAY_TRY(const auto output, source_file(context, "examples/hopper_gemm/output.h"));
  ASSAY_TRY(const auto wgmma, source_file(context, "examples/hopper_decode/wgmma.h"));
  ASSAY_TRY(const RunRecord record,
            race_on_gpu(context, "gpu_prefill",
                        {gemm + "::dependent", "--suite", "transformer", "--dependent-launch",
                         "allowed", "--provider", "cublaslt", "--budget", "8s"}));
  return std::vector<Row>{in_a_chain(record), at_own_clock(record)};
}

}  // namespace assay::bench
