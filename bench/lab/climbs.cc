// What a lab's rule keeps of changes that change nothing, and of true gains, under noises that real
// machines have; by the decision code itself, with fixed seeds. Nothing here is timed.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "assay/stats/keep.h"
#include "bench/lab/lab_bench.h"

namespace {

using assay::stats::decide_keep;
using assay::stats::KeepDecision;
using assay::stats::KeepOptions;
using assay::stats::KeepWord;

constexpr int kClimbs = 2000, kAttempts = 200;
constexpr double kZ = 1.6448536269514722;  // One-sided 95 %.

// The log of one measurement's time over its true one, measurement after measurement.
class Noise {
 public:
  enum class Kind { independent, correlated, outliers, steps };
  static constexpr Kind kAll[] = {Kind::independent, Kind::correlated, Kind::outliers, Kind::steps};

  Noise(Kind kind, double sd, std::uint64_t seed) : kind_(kind), sd_(sd), random_(seed) {}

  double next() {
    const double normal = normal_(random_);
    switch (kind_) {
      case Kind::independent:
        return sd_ * normal;
      case Kind::correlated:  // AR(1) 0.9, of that spread in the long run.
        level_ = 0.9 * level_ + std::sqrt(1 - 0.81) * sd_ * normal;
        return level_;
      case Kind::outliers:  // 5 % are slow, by 5 sd on average.
        return sd_ * normal +
               (uniform_(random_) < 0.05 ? 5 * sd_ * -std::log(1 - uniform_(random_)) : 0);
      case Kind::steps:  // Every 50 measurements or so the machine is another one.
        if (uniform_(random_) < 0.02) level_ = 3 * sd_ * normal_(random_);
        return level_ + sd_ * normal;
    }
    return 0;
  }
  bool coin() { return uniform_(random_) < 0.5; }

  static const char* name(Kind kind) {
    constexpr const char* kNames[] = {"independent", "AR(1) 0.9", "outliers", "level steps"};
    return kNames[static_cast<int>(kind)];
  }

 private:
  Kind kind_;
  double sd_, level_ = 0;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
};

// One attempt: pairs in random order, looked at as a lab does.
KeepDecision attempt(Noise& noise, double gain, const KeepOptions& options) {
  std::vector<double> ratios;
  KeepDecision decision;
  for (const int look : options.looks) {
    while (static_cast<int>(ratios.size()) < look) {
      const bool first = noise.coin();
      const double one = noise.next(), other = noise.next();
      ratios.push_back(std::log1p(gain) + (first ? other - one : one - other));
    }
    decision = decide_keep(ratios, options, look == options.looks.back());
    if (decision.word != KeepWord::go_on) break;
  }
  return decision;
}

// The upper 95 % bound of a share (Wilson).
double upper(int count, int of) {
  const double p = static_cast<double>(count) / of, z2 = kZ * kZ;
  return (p + z2 / (2 * of) + kZ * std::sqrt(p * (1 - p) / of + z2 / (4.0 * of * of))) /
         (1 + z2 / of);
}

// What most loops do: one run each, kept where it is faster than the best so far.
int greedy_keeps(Noise& noise) {
  double best = noise.next();
  int kept = 0;
  for (int i = 0; i < kAttempts; ++i) {
    const double value = noise.next();
    if (value >= best) continue;
    best = value;
    ++kept;
  }
  return kept;
}

// The smallest gain that is kept in four of five attempts.
double smallest_kept(Noise::Kind kind, double sd, const KeepOptions& options) {
  double low = 0, high = 0.5;
  while (high - low > 0.0005) {
    const double gain = (low + high) / 2;
    Noise noise(kind, sd, 11);
    int kept = 0;
    constexpr int kTries = 400;
    for (int i = 0; i < kTries; ++i)
      kept += attempt(noise, gain, options).word == KeepWord::keep ? 1 : 0;
    (kept >= 0.8 * kTries ? high : low) = gain;
  }
  return high;
}

int misses = 0;

void bar(const std::string& target, double measured, const char* bound, bool holds) {
  fmt::print("{:<58} {:>9.4g}  {:<8} {}\n", target, measured, bound, holds ? "ok" : "MISSED");
  misses += holds ? 0 : 1;
}

// What came of climbs that change nothing.
struct Climbs {
  std::atomic<int> kept_any{0}, greedy{0};
  std::atomic<std::int64_t> pairs{0};
};

void null_climb(Noise::Kind kind, double sd, std::uint64_t seed, Climbs& climbs) {
  Noise noise(kind, sd, seed);
  bool any = false;
  std::int64_t pairs = 0;
  for (int i = 0; i < kAttempts; ++i) {
    const KeepDecision decision = attempt(noise, 0, KeepOptions());
    any = any || decision.word == KeepWord::keep;
    pairs += decision.verdict.processes;
  }
  climbs.kept_any += any ? 1 : 0;
  climbs.pairs += pairs;
  Noise same(kind, sd, seed);
  climbs.greedy += greedy_keeps(same);
}

// Each climb has a seed of its own, so that it is the same one on any number of cores.
void null_climbs(Noise::Kind kind, double sd, std::uint64_t seed) {
  Climbs climbs;
  std::atomic<int> next{0};
  const auto work = [&] {
    for (int climb; (climb = next++) < kClimbs;)
      null_climb(kind, sd, seed + static_cast<std::uint64_t>(climb), climbs);
  };
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  const double bound = upper(climbs.kept_any, kClimbs),
               mean = static_cast<double>(climbs.pairs) / kClimbs / kAttempts;
  const std::string what = fmt::format("{}, sd {:.0f} %", Noise::name(kind), 100 * sd);
  bar(what + ": climbs that keep anything (upper 95 %)", bound, "<= 0.06", bound <= 0.06);
  if (sd == 0.01) bar(what + ": pairs of a null attempt", mean, "<= 20", mean <= 20);
  fmt::print("  {} of {} climbs; the greedy rule keeps {:.1f} a climb; {:.1f} pairs\n",
             climbs.kept_any.load(), kClimbs, static_cast<double>(climbs.greedy) / kClimbs, mean);
  std::fflush(stdout);
}

void power(Noise::Kind kind) {
  const KeepOptions options;
  constexpr int kTries = 2000;
  Noise noise(kind, 0.01, 7);
  int kept = 0;
  for (int i = 0; i < kTries; ++i)
    kept += attempt(noise, 0.02, options).word == KeepWord::keep ? 1 : 0;
  const double share = static_cast<double>(kept) / kTries;
  bar(fmt::format("{}, sd 1 %: a true 2 % is kept", Noise::name(kind)), share, ">= 0.95",
      share >= 0.95);
  fmt::print("  kept in four of five: {:.2f} % at sd 1 %, {:.2f} % at sd 3 %\n",
             100 * smallest_kept(kind, 0.01, options), 100 * smallest_kept(kind, 0.03, options));
  std::fflush(stdout);
}

}  // namespace

int assay::lab_bench::run_climbs(const std::string& only, const std::string& part) {
  std::uint64_t seed = 1'000'000;
  bool ran = false;
  const auto wants = [&](Noise::Kind kind, const std::string& name) {
    const bool wanted =
        (only.empty() || only == Noise::name(kind)) && (part.empty() || part == name);
    ran = ran || wanted;
    return wanted;
  };
  for (const Noise::Kind kind : Noise::kAll) {
    if (wants(kind, "power")) power(kind);
    // Each noise has seeds of its own, whatever else runs.
    for (const int percent : {1, 3}) {
      seed += 1'000'000;
      if (wants(kind, fmt::format("{}%", percent))) null_climbs(kind, percent / 100.0, seed);
    }
  }
  return !ran ? 2 : misses == 0 ? 0 : 1;
}
