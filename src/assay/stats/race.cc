#include "assay/stats/race.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace assay::stats {
namespace {

bool usable(const Burst& burst) { return burst.clean && std::isfinite(burst.ns) && burst.ns > 0; }

// A spread told by a handful of rounds is itself noise: it counts as n - 1 degrees of freedom
// against this many for the pool's median spread. At the first look of six rounds both then weigh
// alike.
constexpr double kPoolDegrees = 5;

// Under three rounds clean for both, or under half of them (the rule of the confirmation), a
// kernel's place is unknown and nothing is decided on it.
constexpr int kMinPairs = 3;

bool enough(int clean, int rounds) { return clean >= kMinPairs && 2 * clean >= rounds; }

// So many times faster, by all of its rounds, a kernel of too few clean ones leads all the same: a
// spoiled burst can only be too long, and no chance is as large.
constexpr double kBeyondLuck = 3;

}  // namespace

std::vector<int> drop_hopeless(std::span<const Burst> bursts, const std::vector<bool>& is_protected,
                               double beyond) {
  // A spoiled burst can only be too long: it can clear a kernel, and never condemns one.
  double best = std::numeric_limits<double>::infinity();
  for (const Burst& burst : bursts) {
    if (usable(burst)) best = std::min(best, burst.ns);
  }
  std::vector<int> dropped;
  for (std::size_t i = 0; i < bursts.size(); ++i) {
    const bool hopeless = usable(bursts[i]) && bursts[i].ns > beyond * best;
    const bool guarded = i < is_protected.size() && is_protected[i];
    if (hopeless && !guarded) dropped.push_back(static_cast<int>(i));
  }
  return dropped;
}

std::string_view to_string(RaceEnd end) {
  switch (end) {
    case RaceEnd::last_look:
      return "last look";
    case RaceEnd::one_left:
      return "one left";
    case RaceEnd::budget:
      return "budget";
  }
  return "budget";
}

Race::Race(int kernels, std::vector<bool> is_protected, RaceOptions options)
    : protected_(std::move(is_protected)),
      options_(std::move(options)),
      bursts_(static_cast<std::size_t>(std::max(0, kernels))),
      dropped_after_(bursts_.size(), 0) {
  protected_.resize(bursts_.size(), false);
  std::sort(options_.looks.begin(), options_.looks.end());
  if (bursts_.size() < 2) ended_ = RaceEnd::one_left;
  if (options_.looks.empty()) ended_ = RaceEnd::last_look;
}

std::vector<int> Race::add_round(std::span<const Burst> bursts) {
  std::vector<int> dropped;
  if (ended_) return dropped;
  ++rounds_;
  for (std::size_t i = 0; i < bursts_.size(); ++i) {
    const bool present = dropped_after_[i] == 0 && i < bursts.size();
    bursts_[i].push_back(present ? bursts[i] : Burst{.ns = 0, .clean = false});
  }
  if (!std::binary_search(options_.looks.begin(), options_.looks.end(), rounds_)) return dropped;

  int contenders = 0;
  for (const RaceStanding& standing : against_leader()) {
    const auto kernel = static_cast<std::size_t>(standing.kernel);
    if (dropped_after_[kernel] != 0) continue;
    if (!standing.behind) {
      ++contenders;
    } else if (!protected_[kernel]) {
      dropped_after_[kernel] = rounds_;
      dropped.push_back(standing.kernel);
    }
  }
  if (rounds_ >= options_.looks.back()) {
    ended_ = RaceEnd::last_look;
  } else if (contenders <= 1) {
    // Protected kernels that are clearly behind do not keep a race going.
    ended_ = RaceEnd::one_left;
  }
  return dropped;
}

void Race::end_by_budget() {
  if (!ended_) ended_ = RaceEnd::budget;
}

int Race::rounds_to_next_look() const {
  if (ended_) return 0;
  const auto next = std::upper_bound(options_.looks.begin(), options_.looks.end(), rounds_);
  return next == options_.looks.end() ? 0 : *next - rounds_;
}

bool Race::in_race(int kernel) const {
  return kernel >= 0 && static_cast<std::size_t>(kernel) < dropped_after_.size() &&
         dropped_after_[static_cast<std::size_t>(kernel)] == 0;
}

std::vector<int> Race::survivors() const {
  std::vector<int> kernels;
  for (int kernel = 0; kernel < static_cast<int>(bursts_.size()); ++kernel) {
    if (in_race(kernel)) kernels.push_back(kernel);
  }
  return kernels;
}

RaceStanding Race::against(int kernel, int other) const {
  const auto& mine = bursts_[static_cast<std::size_t>(kernel)];
  const auto& theirs = bursts_[static_cast<std::size_t>(other)];
  RaceStanding standing;
  standing.kernel = kernel;
  standing.dropped_after = dropped_after_[static_cast<std::size_t>(kernel)];
  standing.rounds = standing.dropped_after != 0 ? standing.dropped_after : rounds_;
  std::vector<double> log_ratios;
  for (std::size_t round = 0; round < mine.size(); ++round) {
    if (usable(mine[round]) && usable(theirs[round])) {
      log_ratios.push_back(std::log(theirs[round].ns / mine[round].ns));
    }
  }
  standing.clean_rounds = static_cast<int>(log_ratios.size());
  if (log_ratios.empty()) return standing;
  standing.log_ratio = trimmed_mean(log_ratios, options_.trim_fraction);
  const double error = trimmed_standard_error(log_ratios, options_.trim_fraction);
  standing.standard_error = std::isfinite(error) ? error : 0;
  standing.spread = standing.standard_error * std::sqrt(static_cast<double>(log_ratios.size()));
  return standing;
}

int Race::leader() const {
  // First by each kernel's own times, which drift together; then by pairs with that kernel, which
  // do not. Few clean rounds make a lucky leader.
  int best = -1;
  bool any_clean = false;
  double best_log = 0;
  for (const int kernel : survivors()) {
    std::vector<double> clean, all;
    for (const Burst& burst : bursts_[static_cast<std::size_t>(kernel)]) {
      if (usable(burst)) clean.push_back(std::log(burst.ns));
      if (std::isfinite(burst.ns) && burst.ns > 0) all.push_back(std::log(burst.ns));
    }
    if (all.empty()) continue;
    any_clean = any_clean || !clean.empty();
    const double centre = enough(static_cast<int>(clean.size()), rounds_)
                              ? trimmed_mean(clean, options_.trim_fraction)
                              : trimmed_mean(all, options_.trim_fraction) + std::log(kBeyondLuck);
    if (best < 0 || centre < best_log) {
      best = kernel;
      best_log = centre;
    }
  }
  if (!any_clean) return -1;
  // Pairwise preference need not be transitive: a few steps settle it, and a bound ends it.
  for (int step = 0; step < 4; ++step) {
    RaceStanding ahead;
    for (const int kernel : survivors()) {
      if (kernel == best) continue;
      const RaceStanding standing = against(kernel, best);
      if (!standing.log_ratio || !enough(standing.clean_rounds, rounds_)) continue;
      if (*standing.log_ratio > ahead.log_ratio.value_or(0)) ahead = standing;
    }
    if (!ahead.log_ratio) break;
    best = ahead.kernel;
  }
  return best;
}

std::vector<RaceStanding> Race::against_leader() const {
  const int first = leader();
  std::vector<RaceStanding> all;
  std::vector<double> variances;
  for (int kernel = 0; kernel < static_cast<int>(bursts_.size()); ++kernel) {
    if (kernel == first || first < 0) {
      RaceStanding standing;
      standing.kernel = kernel;
      standing.dropped_after = dropped_after_[static_cast<std::size_t>(kernel)];
      standing.rounds = standing.dropped_after != 0 ? standing.dropped_after : rounds_;
      if (kernel == first) {
        standing.log_ratio = 0;
        for (const Burst& burst : bursts_[static_cast<std::size_t>(kernel)]) {
          if (usable(burst)) ++standing.clean_rounds;
        }
      }
      all.push_back(standing);
      continue;
    }
    all.push_back(against(kernel, first));
    if (all.back().clean_rounds >= kMinPairs) {
      variances.push_back(all.back().spread * all.back().spread);
    }
  }
  if (variances.empty()) return all;
  const double pooled = median(variances);
  for (RaceStanding& standing : all) {
    if (standing.kernel == first || !standing.log_ratio) continue;
    const double rounds = standing.clean_rounds;
    const double own = standing.spread * standing.spread;
    const double degrees = rounds - 1;
    standing.spread = std::sqrt((kPoolDegrees * pooled + degrees * own) / (kPoolDegrees + degrees));
    standing.standard_error = standing.spread / std::sqrt(rounds);
    standing.looks_behind =
        -*standing.log_ratio > options_.z * std::hypot(standing.standard_error, options_.floor);
    standing.behind = standing.looks_behind && enough(standing.clean_rounds, standing.rounds);
  }
  return all;
}

std::vector<RaceStanding> Race::standings() const {
  const int first = leader();
  std::vector<RaceStanding> all = against_leader();
  // The leader stands first even where a kernel with too few clean rounds looks faster.
  const auto key = [&](const RaceStanding& standing) {
    return std::tuple(standing.kernel != first, standing.dropped_after != 0,
                      !standing.log_ratio.has_value(), -standing.log_ratio.value_or(0));
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const RaceStanding& a, const RaceStanding& b) { return key(a) < key(b); });
  return all;
}

}  // namespace assay::stats
