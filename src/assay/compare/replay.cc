#include "assay/compare/replay.h"

#include <algorithm>

#include <fmt/format.h>

#include "assay/kernel/metadata.h"
#include "assay/stats/interval.h"

namespace assay {
namespace {

const KernelOutcome* candidate_of(const ProblemRecord& problem) {
  const PairVerdict* headline = problem.headline();
  return headline == nullptr ? nullptr : problem.find(headline->candidate);
}

// The kernel that had this id then: an earlier record's may be of an earlier version.
const KernelOutcome* find_again(const ProblemRecord& fresh, const std::string& id) {
  if (const KernelOutcome* same = fresh.find(id)) return same;
  for (const KernelOutcome& kernel : fresh.kernels) {
    const auto metadata = KernelMetadata::from_json(kernel.metadata.json());
    if (metadata && metadata->has_id(id)) return &kernel;
  }
  return nullptr;
}

ReplayedSide side_of(const ProblemRecord& problem, const PairVerdict& headline) {
  const Conclusion& conclusion = *problem.conclusion();
  return {problem.label(headline.other), headline.verdict, conclusion.median_us(headline.candidate),
          conclusion.median_us(headline.other)};
}

// Kernels of both runs whose compiled form, or library, is another one now.
void add_hash_differences(const ProblemRecord& recorded, const ProblemRecord& fresh,
                          std::vector<std::string>& differences) {
  const Confirmation* confirmation = recorded.decisive();
  if (confirmation == nullptr) return;
  for (const std::string& id : confirmation->finalists) {
    const KernelOutcome* then = recorded.find(id);
    const KernelOutcome* now = find_again(fresh, id);
    if (then == nullptr || then->artifact_hash.empty()) continue;
    if (now == nullptr && then->role == KernelRole::stock)
      differences.push_back(fmt::format("{} was confirmed then and is not here", then->label()));
    if (now != nullptr && !now->artifact_hash.empty() && now->artifact_hash != then->artifact_hash)
      differences.push_back(fmt::format("{} is not the same bytes or library: {} then, {} now",
                                        then->label(), then->artifact_hash.substr(0, 12),
                                        now->artifact_hash.substr(0, 12)));
  }
}

// What a kernel that fell says about a claim on it.
void judge_fallen(const KernelOutcome& kernel, ReplayedClaim& claim) {
  claim.reason = fmt::format("{} {}", kernel.label(), ending_sentence(kernel.ending));
  const std::string_view ending = ending_name(kernel.ending);
  if (ending == "mismatch" || ending == "violation" || ending == "crash")
    claim.word = ReplayWord::refuted;  // No claim on a kernel that is not right.
  else if (ending == "refusal" || ending == "build_failure")
    claim.word = ReplayWord::gone;
  else
    claim.word = ReplayWord::unsure;
}

}  // namespace

std::string_view to_string(ReplayWord word) {
  switch (word) {
    case ReplayWord::held:
      return "held";
    case ReplayWord::refuted:
      return "refuted";
    case ReplayWord::unsure:
      return "unsure";
    case ReplayWord::gone:
      return "gone";
  }
  return "";
}

ReplayWord replay_word(stats::Word claimed, double margin, const stats::Verdict& fresh) {
  if (!fresh.has_interval() && !fresh.is_bound()) return ReplayWord::unsure;
  const double up = 1 + margin, down = 1 / up;
  // Both ends of the interval above a bound; neither; or one of them.
  const auto above = [&](double bound) {
    return fresh.low > bound     ? ReplayWord::held
           : fresh.high <= bound ? ReplayWord::refuted
                                 : ReplayWord::unsure;
  };
  const auto below = [&](double bound) {
    return fresh.high < bound   ? ReplayWord::held
           : fresh.low >= bound ? ReplayWord::refuted
                                : ReplayWord::unsure;
  };
  switch (claimed) {
    case stats::Word::faster:
      return above(up);
    case stats::Word::slightly_faster:
      return above(1);
    case stats::Word::slightly_slower:
      return below(1);
    case stats::Word::slower:
      return below(down);
    case stats::Word::same:
      if (fresh.low >= down && fresh.high <= up) return ReplayWord::held;
      return fresh.low > up || fresh.high < down ? ReplayWord::refuted : ReplayWord::unsure;
    case stats::Word::unsure:
      break;
  }
  return ReplayWord::unsure;
}

ReplayedClaim claim_of(const ProblemRecord& recorded) {
  ReplayedClaim claim;
  claim.problem = recorded.name;
  const PairVerdict* headline = recorded.headline();
  if (headline == nullptr) {
    claim.reason = recorded.no_winner.empty()
                       ? "the record claims nothing here"
                       : "the record claims nothing here: " + recorded.no_winner;
    return claim;
  }
  claim.candidate = recorded.label(headline->candidate);
  claim.then = side_of(recorded, *headline);
  claim.word = ReplayWord::gone;
  return claim;
}

ReplayedClaim judge_replay(const ProblemRecord& recorded, const ProblemRecord& fresh,
                           double margin) {
  ReplayedClaim claim = claim_of(recorded);
  if (!claim.then) return claim;
  add_hash_differences(recorded, fresh, claim.differences);
  const KernelOutcome* candidate = find_again(fresh, recorded.headline()->candidate);
  if (candidate == nullptr) {
    claim.reason = claim.candidate + " was not found again";
    return claim;
  }
  if (!is_timed(candidate->ending)) {
    judge_fallen(*candidate, claim);
    return claim;
  }
  const KernelOutcome* judged = candidate_of(fresh);
  if (judged != candidate) {
    claim.word = ReplayWord::unsure;
    claim.reason = fresh.no_winner.empty() ? "nothing was there to hold it against"
                                           : "nothing was confirmed: " + fresh.no_winner;
    return claim;
  }
  claim.now = side_of(fresh, *fresh.headline());
  const stats::Verdict& verdict = claim.now->verdict;
  const stats::Word word = claim.then->verdict.word;
  claim.word = replay_word(word, margin, verdict);
  if (word == stats::Word::unsure)
    claim.reason = "the record was unsure: there is nothing to hold or refute";
  else if (!verdict.has_interval() && !verdict.is_bound())
    claim.reason = verdict.reason;
  else if (claim.word == ReplayWord::unsure)
    claim.reason =
        fmt::format("the interval reaches across what '{}' claims", stats::to_string(word));
  return claim;
}

std::vector<std::string> replay_differences(const RunRecord& recorded, const RunRecord& fresh) {
  std::vector<std::string> differences =
      environment_differences(recorded.environment, fresh.environment);
  const auto differ = [&](std::string_view what, const std::string& then, const std::string& now) {
    if (!then.empty() && !now.empty() && then != now)
      differences.push_back(fmt::format("{} differs: {} and {}", what, then, now));
  };
  differ("compiler", recorded.environment.compiler, fresh.environment.compiler);
  differ("system", recorded.environment.system, fresh.environment.system);
  differ("assay", recorded.assay_version, fresh.assay_version);
  if (recorded.assay_version == fresh.assay_version)
    differ("build of assay", recorded.assay_build, fresh.assay_build);
  for (const LibraryStamp& library : recorded.environment.libraries) {
    const auto& now = fresh.environment.libraries;
    const auto same = [&](const LibraryStamp& other) { return other.provider == library.provider; };
    if (std::none_of(now.begin(), now.end(), same))
      differences.push_back(
          fmt::format("{} {} took part then and is not here", library.provider, library.version));
  }
  if (recorded.trust != fresh.trust)
    differ("trust", std::string(to_string(recorded.trust)), std::string(to_string(fresh.trust)));
  if (recorded.options.confidence != fresh.options.confidence)
    differences.push_back(fmt::format("the recorded words rest on intervals of {:g} %, not {:g} %",
                                      recorded.options.confidence * 100,
                                      fresh.options.confidence * 100));
  return differences;
}

}  // namespace assay
