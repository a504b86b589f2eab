#include "assay/lab/evaluate/pairs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "assay/base/clock.h"
#include "assay/base/text.h"
#include "assay/lab/evaluate/http_load.h"

namespace assay::lab {
namespace {

void merge(Metrics& all, Metrics more) {
  all.values.merge(more.values);
  all.flags.merge(more.flags);
  all.texts.merge(more.texts);
}

Result<double> positive(const Metrics& metrics, const std::string& name) {
  const auto found = metrics.values.find(name);
  if (found == metrics.values.end())
    return fail(ErrorCode::failed, "{} is not among what its benchmark measured", name);
  if (found->second.value > 0) return found->second.value;
  return fail(ErrorCode::failed, "{} is {:.6g}: only values above 0 can be compared", name,
              found->second.value);
}

}  // namespace

Result<double> log_ratio_of(const Watched& watched, const Metrics& candidate,
                            const Metrics& incumbent) {
  ASSAY_TRY(const double ours, positive(candidate, watched.metric));
  ASSAY_TRY(const double theirs, positive(incumbent, watched.metric));
  const double faster = std::log(theirs / ours);
  return watched.direction == Direction::minimize ? faster : -faster;
}

Result<std::optional<Failure>> PairTaker::take(int pairs) {
  const int before = static_cast<int>(pairs_.size());
  const int middle = before + (pairs - before) / 2;
  for (const int until : {middle, pairs}) {
    while (static_cast<int>(pairs_.size()) < until && !time_is_over_) {
      ASSAY_TRY(auto failure, take_one());
      if (failure) return failure;
      if (plan_.on_pair) plan_.on_pair(static_cast<int>(pairs_.size()));
      time_is_over_ = plan_.deadline_ns > 0 && monotonic_ns() > plan_.deadline_ns;
    }
    if (until == middle && !time_is_over_) ASSAY_TRY(exchange());
  }
  if (static_cast<int>(pairs_.size()) > before) {
    ASSAY_TRY(auto failure, take_races(before));
    if (failure) return failure;
  }
  return compare_values(before);
}

// Of what programs printed; races have compared theirs themselves, or found them spoiled.
Result<std::optional<Failure>> PairTaker::compare_values(int first) {
  for (auto at = static_cast<size_t>(first); at < pairs_.size(); ++at)
    for (const Watched& watched : plan_.watched) {
      if (!is_printed(watched.metric)) continue;
      Metrics incumbent;
      for (const auto& [name, value] : pairs_[at].incumbent) incumbent.values[name].value = value;
      const auto ratio = log_ratio_of(watched, metrics_[at], incumbent);
      if (!ratio) return Failure{AttemptOutcome::crash, ratio.error().message};
      pairs_[at].log_ratios[watched.metric] = *ratio;
    }
  return std::nullopt;
}

bool PairTaker::is_printed(std::string_view metric) const {
  const std::string_view name = metric.substr(0, metric.find('.'));
  return std::ranges::any_of(plan_.benchmarks, [&](const Benchmark* benchmark) {
    return benchmark->name == name && !std::holds_alternative<SweepRace>(benchmark->kind);
  });
}

Status PairTaker::exchange() {
  ASSAY_TRY(slots_.swap());
  std::swap(candidate_.folder, incumbent_.folder);
  swapped_ = !swapped_;
  return {};
}

Result<Measured> PairTaker::run_side(bool candidate, int number) {
  Measured all;
  const Side& side = candidate ? candidate_ : incumbent_;
  for (const Benchmark* benchmark : plan_.benchmarks) {
    if (std::holds_alternative<SweepRace>(benchmark->kind)) continue;
    const std::string label =
        fmt::format("{}-{}-{}", benchmark->name, number, candidate ? "candidate" : "incumbent");
    ASSAY_TRY(Measured one, std::holds_alternative<ShellJson>(benchmark->kind)
                                ? run_shell_json(runner_, *benchmark, side, label)
                                : run_openai_http(runner_, *benchmark, plan_.server, side, number,
                                                  label, plan_.folder / label));
    if (one.failure) {
      if (!candidate) one.failure->reason = "the incumbent failed: " + one.failure->reason;
      return one;
    }
    merge(all.metrics, std::move(one.metrics));
  }
  return all;
}

// Each side runs beside the other's folder, with the rights to write there. What it changes, there
// or of what judges it, would make a number that says nothing.
Result<Measured> PairTaker::run_untouched_side(bool candidate, int number) {
  const Side& side = candidate ? candidate_ : incumbent_;
  const auto guilty = [&](bool of_candidate, const std::string& reason) {
    if (of_candidate) return Measured{Failure{AttemptOutcome::violation, reason}, {}};
    return Measured{Failure{AttemptOutcome::crash, "the incumbent failed: " + reason}, {}};
  };
  for (const bool which : {false, true})  // Ahead of the first run of either.
    if (!stamps_[which ? 1 : 0]) {
      ASSAY_TRY(stamps_[which ? 1 : 0], FolderStamp::of((which ? candidate_ : incumbent_).folder));
    }
  std::optional<FolderStamp>& stamp = stamps_[candidate ? 1 : 0];
  ASSAY_TRY(const FolderStamp before, FolderStamp::of(side.folder));
  if (const std::string path = stamp->change_to(before); !path.empty())
    return guilty(!candidate, fmt::format("{} of the other side was changed while it was measured",
                                          sanitize(path, 200)));
  ASSAY_TRY(Measured measured, run_side(candidate, number));
  if (measured.failure) return measured;
  ASSAY_TRY(stamp, FolderStamp::of(side.folder));
  if (const std::string path = before.change_to(*stamp, plan_.judges); !path.empty())
    return guilty(candidate, sanitize(path, 200) +
                                 " was changed while it ran: what judges an attempt is fixed");
  return measured;
}

Result<std::optional<Failure>> PairTaker::take_one() {
  AttemptPair pair;
  pair.number = static_cast<int>(pairs_.size());
  pair.candidate_first = (orders_.bits(static_cast<uint64_t>(pair.number)) & 1) != 0;
  pair.swapped = swapped_;
  Metrics candidate;
  for (const bool is_candidate : {pair.candidate_first, !pair.candidate_first}) {
    ASSAY_TRY(Measured side, run_untouched_side(is_candidate, pair.number));
    if (side.failure) return side.failure;
    auto& values = is_candidate ? pair.candidate : pair.incumbent;
    for (const Watched& watched : plan_.watched)
      if (const auto found = side.metrics.values.find(watched.metric);
          found != side.metrics.values.end())
        values[watched.metric] = found->second.value;
    if (is_candidate) candidate = std::move(side.metrics);
  }
  pairs_.push_back(std::move(pair));
  metrics_.push_back(std::move(candidate));
  return std::nullopt;
}

// Of `sweep` benchmarks: one race for all pairs from `first` on, a process of it for each.
Result<std::optional<Failure>> PairTaker::take_races(int first) {
  const auto at = static_cast<size_t>(first);
  for (const Benchmark* benchmark : plan_.benchmarks) {
    if (!std::holds_alternative<SweepRace>(benchmark->kind)) continue;
    const int pairs = static_cast<int>(pairs_.size()) - first;
    ASSAY_TRY(const Raced raced,
              race_sides(runner_, *benchmark, candidate_, incumbent_, pairs, plan_.families_of,
                         plan_.folder / fmt::format("{}-{}", benchmark->name, first)));
    if (raced.failure) return raced.failure;
    systematic_ = std::max(systematic_, raced.systematic);
    for (size_t i = 0; i < raced.pairs.size() && at + i < pairs_.size(); ++i) {
      AttemptPair& pair = pairs_[at + i];
      for (const Watched& watched : plan_.watched) {
        if (const auto ratio = raced.pairs[i].find(watched.metric); ratio != raced.pairs[i].end())
          pair.log_ratios[watched.metric] = ratio->second;
        if (const auto value = raced.candidate.values.find(watched.metric);
            value != raced.candidate.values.end())
          pair.candidate[watched.metric] = value->second.value;
        if (const auto value = raced.incumbent.values.find(watched.metric);
            value != raced.incumbent.values.end())
          pair.incumbent[watched.metric] = value->second.value;
      }
      merge(metrics_[at + i], raced.candidate);
    }
  }
  return std::nullopt;
}

}  // namespace assay::lab
