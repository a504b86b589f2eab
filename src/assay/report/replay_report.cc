#include "assay/report/replay_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/report/width.h"
#include "assay/report/words.h"

namespace assay::report {
namespace {

constexpr int kLabel = 10;

Tone tone_of_replay(ReplayWord word) {
  switch (word) {
    case ReplayWord::held:
      return Tone::good;
    case ReplayWord::refuted:
      return Tone::bad;
    case ReplayWord::unsure:
    case ReplayWord::gone:
      return Tone::caution;
  }
  return Tone::plain;
}

std::string claim_line(std::string_view label, const std::string& text, const TextStyle& style) {
  return wrap("  " + pad(label, kLabel - 3) + ' ' + text, style.width, kLabel);
}

std::string side_text(const ReplayedClaim& claim, const ReplayedSide& side) {
  return verdict_sentence(side.verdict, sanitize(side.other, 240)) +
         fmt::format("; {} us, {} {} us", microseconds(side.candidate_us),
                     side.other == claim.candidate ? "itself" : "the other",
                     microseconds(side.other_us));
}

std::string claim_text(const ReplayedClaim& claim, const TextStyle& style) {
  std::string out =
      fmt::format("{}  {}\n", coloured(to_string(claim.word), tone_of_replay(claim.word), style),
                  claim.problem);
  if (!claim.candidate.empty()) out += claim_line("kernel", sanitize(claim.candidate, 240), style);
  if (claim.then) out += claim_line("then", side_text(claim, *claim.then), style);
  if (claim.now) out += claim_line("now", side_text(claim, *claim.now), style);
  for (const std::string& difference : claim.differences)
    out += claim_line("differs", sanitize(difference, 600), style);
  if (!claim.reason.empty()) out += claim_line("because", sanitize(claim.reason, 600), style);
  return out;
}

}  // namespace

std::string replay_text(const std::vector<ReplayedClaim>& claims,
                        const std::vector<std::string>& differences, const TextStyle& style) {
  std::string out;
  for (const ReplayedClaim& claim : claims) out += claim_text(claim, style);
  for (const std::string& difference : differences)
    out += wrap(pad("differs", kLabel - 1) + ' ' + sanitize(difference, 600), style.width, kLabel);
  const auto count = [&](ReplayWord word) {
    return std::count_if(claims.begin(), claims.end(),
                         [&](const ReplayedClaim& claim) { return claim.word == word; });
  };
  out += fmt::format("{} held, {} refuted, {} unsure", count(ReplayWord::held),
                     count(ReplayWord::refuted), count(ReplayWord::unsure));
  if (const auto gone = count(ReplayWord::gone); gone > 0) out += fmt::format(", {} gone", gone);
  return out + '\n';
}

}  // namespace assay::report
