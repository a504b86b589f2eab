#include "assay/lab/climb/brief.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/stats/bounded.h"

namespace assay::lab {
namespace {

constexpr size_t kShown = 10;      // Attempts.
constexpr int kNearTies = 4;       // Of one family: the wrapper is exhausted.
constexpr size_t kUnderNoise = 8;  // Attempts in a row without a gain.
constexpr int kDeadEnd = 3;        // Attempts of a family, none of them kept.
constexpr int kSweeps = 4;         // Attempts that set variables alone, none of them kept since.
constexpr int kDeeper = 3;         // Keeps behind a win, after which it may be worth nothing.
constexpr double kMoved = 0.02;    // Of the whole: what a bucket of the top must change to count.
constexpr size_t kTop = 3;         // Buckets of a profile.
constexpr size_t kProfiles = 2;    // That are held against one another.

std::string outcome_of(const Attempt& attempt) {
  if (attempt.baseline) return "baseline";
  return attempt.outcome ? std::string(to_string(*attempt.outcome)) : "running";
}

std::string attempt_line(const Attempt& attempt) {
  std::string line = fmt::format("- {} **{}** {}", attempt.seq, outcome_of(attempt),
                                 sanitize(attempt.description, 200));
  if (!attempt.family.empty()) line += fmt::format(" [{}]", sanitize(attempt.family, 60));
  if (!attempt.reason.empty()) line += ": " + sanitize(attempt.reason, 240);
  return line + '\n';
}

struct FamilyTally {
  int tried = 0, kept = 0, near_ties = 0;
};

std::map<std::string, FamilyTally> tally(const HistoryContent& content, std::string_view series) {
  std::map<std::string, FamilyTally> families;
  for (const Attempt& attempt : content.attempts) {
    if (attempt.series != series || attempt.family.empty() || attempt.baseline) continue;
    FamilyTally& family = families[attempt.family];
    ++family.tried;
    family.kept += attempt.outcome == AttemptOutcome::keep ? 1 : 0;
    family.near_ties += attempt.outcome == AttemptOutcome::near_tie ? 1 : 0;
  }
  return families;
}

std::string profile_text(const AttemptProfile& profile, std::int64_t seq) {
  std::string text =
      fmt::format("\n## Where the time goes (attempt {}, {})\n\n", seq, sanitize(profile.tool, 40));
  for (const AttemptBucket& bucket : profile.buckets)
    text += fmt::format("- {:.1f} % {}\n", 100 * bucket.share, sanitize(bucket.name, 160));
  if (!profile.limit.empty()) text += fmt::format("\n{}\n", sanitize(profile.limit, 600));
  return text;
}

// Of the newest kept attempts that have one.
void find_profiles(const Case& target, const HistoryContent& content, BriefFacts& facts) {
  for (auto one = content.attempts.rbegin(); one != content.attempts.rend(); ++one) {
    if (one->series != facts.series || one->outcome != AttemptOutcome::keep || one->record.empty())
      continue;
    const auto record = load_attempt_record((target.folder / "runs" / one->record).string());
    if (!record || !record->profile || record->profile->buckets.empty()) continue;
    facts.profiles.push_back({one->seq, *record->profile});
    if (facts.profiles.size() == kProfiles) return;
  }
}

bool is_win(const Attempt& attempt, std::string_view series) {
  return attempt.series == series && attempt.outcome == AttemptOutcome::keep && !attempt.baseline;
}

// Those that set variables alone since anything was kept.
int sweeps_without_a_gain(const HistoryContent& content, std::string_view series) {
  int sweeps = 0;
  for (auto one = content.attempts.rbegin(); one != content.attempts.rend(); ++one) {
    if (one->series != series || one->outcome == AttemptOutcome::keep) break;
    sweeps += one->env_only ? 1 : 0;
  }
  return sweeps;
}

// Wins with as many keeps behind them as may have made them worthless, and no test without them
// since (reablate.h).
std::vector<std::int64_t> wins_not_tested_again(const HistoryContent& content,
                                                std::string_view series) {
  std::vector<std::int64_t> wins, old;
  bool tested = false;
  for (auto one = content.attempts.rbegin(); one != content.attempts.rend(); ++one) {
    if (one->series == series && one->family == "reablate") tested = true;
    if (!is_win(*one, series)) continue;
    if (std::ssize(wins) >= kDeeper && !tested) old.push_back(one->seq);
    wins.push_back(one->seq);
  }
  std::ranges::reverse(old);
  return old;
}

std::string top_that_stays(const std::vector<BriefFacts::Profiled>& profiles) {
  if (profiles.size() < kProfiles) return {};
  const auto &now = profiles[0].profile.buckets, &before = profiles[1].profile.buckets;
  const size_t top = std::min(kTop, now.size());
  std::vector<std::string> names;
  for (const AttemptBucket& bucket : std::span(now).first(top)) {
    const auto then = std::ranges::find(before, bucket.name, &AttemptBucket::name);
    if (then == before.end() || std::abs(then->share - bucket.share) > kMoved) return {};
    names.push_back(fmt::format("{} ({:.0f} %)", sanitize(bucket.name, 100), 100 * bucket.share));
  }
  return fmt::format(
      "the top of the profile has not changed between attempts {} and {}: {}. Change what these "
      "do, or how often they are asked",
      profiles[1].seq, profiles[0].seq, join(names, ", "));
}

// What the baseline came out at when it was held against itself: the newest of the series.
std::string noise_text(const HistoryContent& content, std::string_view series) {
  for (auto one = content.attempts.rbegin(); one != content.attempts.rend(); ++one) {
    if (one->series != series || !one->baseline || !one->claim) continue;
    std::string text =
        fmt::format("Noise: the baseline (attempt {}) held against itself came out at {:+.2f} %",
                    one->seq, 100 * (one->claim->ratio - 1));
    if (stats::is_bounded(one->claim->low, one->claim->high))
      text += fmt::format(", [{:+.2f}, {:+.2f}]", 100 * (one->claim->low - 1),
                          100 * (one->claim->high - 1));
    return text + fmt::format(", in {} pairs.\n", one->claim->pairs);
  }
  return {};
}

}  // namespace

std::vector<std::string> advice(const HistoryContent& content, const BriefFacts& facts) {
  const std::string_view series = facts.series;
  std::vector<std::string> sentences;
  for (const auto& [name, family] : tally(content, series)) {
    if (family.near_ties >= kNearTies)
      sentences.push_back(
          fmt::format("{} near ties are of the family {}: look for a deeper boundary",
                      family.near_ties, sanitize(name, 60)));
    if (family.tried >= kDeadEnd && family.kept == 0)
      sentences.push_back(fmt::format("{} attempts of the family {} and none kept: a dead end",
                                      family.tried, sanitize(name, 60)));
  }
  size_t without = 0;
  for (auto one = content.attempts.rbegin(); one != content.attempts.rend(); ++one) {
    if (one->series != series || one->outcome == AttemptOutcome::keep) break;
    ++without;
  }
  if (without >= kUnderNoise)
    sentences.push_back(
        fmt::format("{} attempts in a row gained nothing that could be proven: profile, and make a "
                    "structural change",
                    without));
  if (const int sweeps = sweeps_without_a_gain(content, series); sweeps >= kSweeps)
    sentences.push_back(fmt::format(
        "{} attempts that set variables alone moved less than can be proven: change code", sweeps));
  if (std::string top = top_that_stays(facts.profiles); !top.empty())
    sentences.push_back(std::move(top));
  if (const auto old = wins_not_tested_again(content, series); !old.empty())
    sentences.push_back(fmt::format(
        "attempt{} {} won before {} or more later gains, and {} not tested again since: `assay lab "
        "reablate`",
        old.size() == 1 ? "" : "s", fmt::join(old, ", "), kDeeper,
        old.size() == 1 ? "was" : "were"));
  return sentences;
}

BriefFacts brief_facts(const Case& target, const HistoryContent& content, std::string series,
                       std::string run_tag) {
  BriefFacts facts;
  facts.series = std::move(series);
  facts.run_tag = std::move(run_tag);
  constexpr std::size_t kMostPlanBytes = std::size_t{1} << 16;
  facts.plan = read_file((target.folder / "plan.yaml").string(), kMostPlanBytes).value_or("");
  const Attempt* best = content.incumbent(facts.series);
  if (best == nullptr || best->record.empty()) return facts;
  find_profiles(target, content, facts);
  if (const auto record = load_attempt_record((target.folder / "runs" / best->record).string()))
    facts.smallest_keepable = record->smallest_keepable;
  return facts;
}

std::string brief_text(const Case& target, const HistoryContent& content, const BriefFacts& facts) {
  std::string text =
      fmt::format("# {}\n\nObjective: {} {} ({}). Change files below workspace/ alone.\n\n",
                  target.name, to_string(target.objective.direction), target.objective.metric,
                  target.objective.unit.empty() ? "see case.yaml" : target.objective.unit);
  if (const Attempt* best = content.incumbent(facts.series)) {
    text += fmt::format("Best so far: attempt {}", best->seq);
    if (best->primary)
      text += fmt::format(", {:.6g}{}{}", best->primary->value,
                          best->primary->unit.empty() ? "" : " ", best->primary->unit);
    const bool elsewhere = facts.start_seq != 0 && facts.start_seq != best->seq;
    text += !facts.of_turn ? ".\n"
            : elsewhere    ? fmt::format(". The workspace that you see is that of attempt {}.\n",
                                         facts.start_seq)
                           : ". The workspace that you see is that state.\n";
  }
  if (const std::string noise = noise_text(content, facts.series); !noise.empty()) text += noise;
  if (facts.smallest_keepable > 0)
    text += fmt::format("The smallest gain that could be kept is about {:.2g} %.\n",
                        100 * facts.smallest_keepable);
  if (facts.turns_left) text += fmt::format("Turns left: {}.\n", *facts.turns_left);
  if (facts.seconds_left)
    text += fmt::format("Time left: {}.\n", format_duration(*facts.seconds_left));
  if (facts.usd_left) text += fmt::format("Dollars left: {:.2f}.\n", *facts.usd_left);
  if (facts.tokens_left) text += fmt::format("Tokens left: {}.\n", *facts.tokens_left);
  if (!facts.profiles.empty())
    text += profile_text(facts.profiles[0].profile, facts.profiles[0].seq);
  const size_t count = content.attempts.size();
  if (count > 0) text += "\n## Last attempts\n\n";
  for (size_t i = count - std::min(count, kShown); i < count; ++i)
    text += attempt_line(content.attempts[i]);
  if (const auto sentences = advice(content, facts); !sentences.empty()) {
    text += "\n## Advice\n\n";
    for (const std::string& sentence : sentences) text += "- " + sentence + ".\n";
  }
  if (!facts.plan.empty()) text += "\n## Plan\n\n```yaml\n" + facts.plan + "```\n";
  return text + (facts.of_turn
                     ? "\nWrite what you changed into the YAML file that $ASSAY_ATTEMPT names: "
                       "{description, hypothesis, family, target, lane, env, "
                       "cost: {usd, tokens_in, tokens_out}}.\n"
                     : "\nMake one change below workspace/, then evaluate it (`assay lab eval "
                       "--description ...`).\n");
}

}  // namespace assay::lab
