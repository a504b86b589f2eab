// Our kernels for decoding against everything that there is to be had on a GPU: four projections
// at 1 to 64 tokens.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/gpu.h"
#include "bench/gpu_sources.h"

namespace assay::bench {
namespace {

constexpr double kLeastMean = 1.15, kLeastEach = 1.0;
constexpr const char* kTokens = "1|2|4|8|16|32|64";

Result<RunRecord> race_decode(const Context& context, const std::string& classes) {
  ASSAY_TRY(const std::string decode, source_file(context, "examples/hopper_decode/decode.cu"));
  ASSAY_TRY(const auto header, source_file(context, "examples/hopper_decode/wgmma.h"));
  ASSAY_TRY(const std::string skinny, source_file(context, "examples/hopper_skinny/skinny.cu"));
  // Where launches may not overlap, those that could are the same code, and take part in vain.
  const std::string ending = classes == "allowed" ? "_dependent" : "";
  std::vector<std::string> words;
  for (const char* name : {"::tiles", "::copies"}) words.push_back(decode + name + ending);
  for (const char* name : {"::ring", "::registers"}) words.push_back(skinny + name + ending);
  const std::string shapes[] = {fmt::format("m={},n=6144|4096|28672,k=4096,dtype=f16", kTokens),
                                fmt::format("m={},n=4096,k=14336,dtype=f16", kTokens)};
  for (const std::string& shape : shapes) words.insert(words.end(), {"--shape", shape});
  words.insert(words.end(), {"--dependent-launch", classes, "--budget", "2s"});
  return race_on_gpu(context, "gpu_decode_" + classes, words);
}

Result<Row> judge_decode(const Context& context, const std::string& classes, bool mean_is_bound) {
  ASSAY_TRY(const RunRecord record, race_decode(context, classes));
  Row row{.target =
              fmt::format("decode, m {}, four projections, dependent launch {}", kTokens, classes),
          .bound = fmt::format("{}none under {:.2f} x the best stock kernel",
                               mean_is_bound ? fmt::format("mean >= {:.2f}, ", kLeastMean) : "",
                               kLeastEach)};
  double logarithms = 0, least = HUGE_VAL;
  std::string words;
  Json problems = Json::array();
  for (const ProblemRecord& problem : record.problems) {
    const PairVerdict* const pair = problem.headline();
    if (pair == nullptr || !pair->verdict.has_interval())
      return fail(ErrorCode::failed, "{}: no verdict: {}", problem.name, problem.no_winner);
    const stats::Verdict& verdict = pair->verdict;
    logarithms += std::log(verdict.ratio);
    least = std::min(least, verdict.ratio);
    words += fmt::format("{}{} {:.2f} [{:.2f}, {:.2f}]", words.empty() ? "" : ", ", problem.name,
                         verdict.ratio, verdict.low, verdict.high);
    problems.push_back({{"problem", problem.name},
                        {"kernel", problem.label(pair->candidate)},
                        {"stock", problem.label(pair->other)},
                        {"ratio", verdict.ratio}});
  }
  const double mean =
      std::exp(logarithms / static_cast<double>(std::max<size_t>(record.problems.size(), 1)));
  row.measured = fmt::format("mean {:.3f}, least {:.3f}", mean, least);
  row.ok = least >= kLeastEach && (!mean_is_bound || mean >= kLeastMean);
  row.notes.push_back(words + ".");
  row.details = {{"problems", problems}, {"mean", mean}, {"least", least}};
  return row;
}

}  // namespace

Result<std::vector<Row>> measure_gpu_decode(const Context& context) {
  std::vector<Row> rows;
  ASSAY_TRY(rows.emplace_back(), judge_decode(context, "allowed", true));
  ASSAY_TRY(rows.emplace_back(), judge_decode(context, "forbidden", false));
  return rows;
}

}  // namespace assay::bench
