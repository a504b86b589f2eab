#include "assay/lab/climb/brief.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/base/text.h"

namespace assay::lab {
namespace {

constexpr size_t kShown = 10;      // Attempts.
constexpr int kNearTies = 4;       // Of one family: the wrapper is exhausted.
constexpr size_t kUnderNoise = 8;  // Attempts in a row without a gain.
constexpr int kDeadEnd = 3;        // Attempts of a family, none of them kept.

std::string outcome_of(const Attempt& attempt) {
  if (attempt.baseline) return "baseline";
  return std::string(to_string(attempt.outcome.value_or(AttemptOutcome::interrupted)));
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
  return text;
}

// Of the newest kept attempt that has one.
void find_profile(const Case& target, const HistoryContent& content, BriefFacts& facts) {
  for (auto one = content.attempts.rbegin(); one != content.attempts.rend(); ++one) {
    if (one->series != facts.series || one->outcome != AttemptOutcome::keep || one->record.empty())
      continue;
    const auto record = load_attempt_record((target.folder / "runs" / one->record).string());
    if (!record || !record->profile || record->profile->buckets.empty()) continue;
    facts.profile = record->profile;
    facts.profile_seq = one->seq;
    return;
  }
}

}  // namespace

std::vector<std::string> advice(const HistoryContent& content, std::string_view series) {
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
  find_profile(target, content, facts);
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
  if (facts.smallest_keepable > 0)
    text += fmt::format("The smallest gain that could be kept is about {:.2g} %.\n",
                        100 * facts.smallest_keepable);
  if (facts.turns_left) text += fmt::format("Turns left: {}.\n", *facts.turns_left);
  if (facts.seconds_left)
    text += fmt::format("Time left: {}.\n", format_duration(*facts.seconds_left));
  if (facts.usd_left) text += fmt::format("Dollars left: {:.2f}.\n", *facts.usd_left);
  if (facts.tokens_left) text += fmt::format("Tokens left: {}.\n", *facts.tokens_left);
  if (facts.profile) text += profile_text(*facts.profile, facts.profile_seq);
  text += "\n## Last attempts\n\n";
  const size_t count = content.attempts.size();
  for (size_t i = count - std::min(count, kShown); i < count; ++i)
    text += attempt_line(content.attempts[i]);
  if (const auto sentences = advice(content, facts.series); !sentences.empty()) {
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
