#include "assay/load/duel.h"

#include <algorithm>
#include <cmath>

namespace assay::load {
namespace {

constexpr double kWrong = 0.01;  // In all looks together.

stats::Verdict judge(const Duel& duel, double margin, double spent) {
  std::vector<stats::ProcessMean> means;
  for (const DuelPair& pair : duel.pairs) {
    stats::ProcessMean mean;
    mean.log_ratio = pair.log_ratio;
    mean.rounds = mean.clean_rounds = 1;
    means.push_back(mean);
  }
  stats::JudgeOptions options;
  options.margin = margin;
  options.confidence = 1 - kWrong * spent;
  options.min_processes = kLooks.front();
  return stats::judge(means, options);
}

}  // namespace

bool less_is_better(std::string_view metric) {
  const std::string_view key = metric.substr(0, metric.find('.'));
  return key.ends_with("_ms") || key == "duration_s";
}

Result<Duel> run_duel(std::string_view metric, double margin, std::uint64_t seed,
                      const Measure& measure, const std::function<void(const Duel&)>& on_pair) {
  Duel duel;
  const CounterRandom orders{seed, 11};
  const double sign = less_is_better(metric) ? -1 : 1;
  for (std::size_t look = 0; look < kLooks.size(); ++look) {
    while (duel.pairs.size() < static_cast<std::size_t>(kLooks[look])) {
      DuelPair pair;
      const auto number = static_cast<std::uint64_t>(duel.pairs.size());
      pair.seed = seed + 1 + number;
      pair.candidate_first = orders.below(number, 2) == 0;
      for (const bool candidate : {pair.candidate_first, !pair.candidate_first}) {
        ASSAY_TRY(const double value, measure(candidate, pair.seed));
        if (value <= 0)
          return fail(ErrorCode::unsupported, "{} is {} in a run, of which there is no ratio",
                      metric, value);
        (candidate ? pair.candidate : pair.other) = value;
      }
      pair.log_ratio = sign * std::log(pair.candidate / pair.other);
      duel.pairs.push_back(pair);
      if (on_pair) on_pair(duel);
    }
    duel.verdict = judge(duel, margin, kSpent[look]);
    if (duel.verdict.word != stats::Word::unsure) break;
  }
  return duel;
}

Json duel_json(const Duel& duel, std::string_view metric) {
  Json pairs = Json::array();
  for (const DuelPair& pair : duel.pairs)
    pairs.push_back({{"seed", pair.seed},
                     {"candidate_first", pair.candidate_first},
                     {"candidate", pair.candidate},
                     {"other", pair.other},
                     {"log_ratio", pair.log_ratio}});
  const stats::Verdict& verdict = duel.verdict;
  return {{"schema", "assay.load_race/1"},
          {"metric", metric},
          {"pairs", pairs},
          {"verdict",
           {{"word", to_string(verdict.word)},
            {"ratio", verdict.ratio},
            {"low", verdict.has_interval() ? Json(verdict.low) : Json(nullptr)},
            {"high", verdict.has_interval() ? Json(verdict.high) : Json(nullptr)},
            {"margin", verdict.margin},
            {"reason", verdict.reason}}}};
}

}  // namespace assay::load
