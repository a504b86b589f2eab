#include "assay/compare/gate.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "assay/base/text.h"
#include "assay/compare/claims.h"
#include "assay/record/conclude.h"

namespace assay {
namespace {

Result<double> parse_within(std::string_view text) {
  const bool percent = text.ends_with('%');
  const std::string_view digits = trim(percent ? text.substr(0, text.size() - 1) : text);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (percent) value /= 100;
  if (error != std::errc() || end != digits.data() + digits.size() || !(value > 0 && value < 1))
    return fail(ErrorCode::invalid_input,
                "--require within: '{}' is no share above 0 and below 100 %; write within:3%",
                sanitize(text, 60));
  return value;
}

std::string demand(const Requirement& requirement, double margin) {
  switch (requirement.kind) {
    case Requirement::Kind::faster:
      return fmt::format("is faster than the best stock kernel by more than {:g} %", 100 * margin);
    case Requirement::Kind::same:
      return fmt::format("is no slower than the best stock kernel, within {:g} %", 100 * margin);
    case Requirement::Kind::within:
      return fmt::format("is within {:g} % of the best stock kernel", 100 * requirement.fraction);
  }
  return {};
}

// The least ratio that is held, and what it has to be beyond.
double limit_of(const Requirement& requirement, double margin) {
  switch (requirement.kind) {
    case Requirement::Kind::faster:
      return 1 + margin;
    case Requirement::Kind::same:
      return 1 / (1 + margin);
    case Requirement::Kind::within:
      return 1 - requirement.fraction;
  }
  return 1;
}

ClaimState state_of(const Requirement& requirement, const stats::Verdict& verdict) {
  if (verdict.word == stats::Word::unsure) return ClaimState::unproven;
  const double limit = limit_of(requirement, verdict.margin);
  // A bound has one end: nobody is within 3 % by being slower by at least 25 x.
  const bool held = verdict.low > 0 && (requirement.kind == Requirement::Kind::faster
                                            ? verdict.word == stats::Word::faster
                                            : verdict.low >= limit);
  if (held) return ClaimState::held;
  return verdict.high <= limit ? ClaimState::refuted : ClaimState::unproven;
}

// The user's kernel that a problem's verdict is of.
const PairVerdict* verdict_of_user(const ProblemRecord& problem) {
  const PairVerdict* headline = problem.headline();
  const KernelOutcome* kernel = headline == nullptr ? nullptr : problem.find(headline->candidate);
  return kernel != nullptr && kernel->role == KernelRole::user ? headline : nullptr;
}

std::string why_none(const ProblemRecord& problem) {
  for (const KernelOutcome& kernel : problem.kernels)
    if (kernel.role == KernelRole::user && !is_timed(kernel.ending))
      return "it " + ending_sentence(kernel.ending);
  return problem.no_winner.empty() ? "there is no verdict on a kernel of yours" : problem.no_winner;
}

// Another source has another id, as it should: whoever is raced is found by its name.
const KernelOutcome* named(const ProblemRecord& problem, const KernelOutcome& wanted) {
  const auto found = std::ranges::find_if(problem.kernels, [&](const KernelOutcome& kernel) {
    return kernel.provider == wanted.provider && kernel.name == wanted.name;
  });
  return found == problem.kernels.end() ? nullptr : &*found;
}

}  // namespace

Result<Requirement> parse_requirement(std::string_view text) {
  using Kind = Requirement::Kind;
  constexpr std::string_view kWithin = "within:";
  if (text == "faster") return Requirement{Kind::faster, 0};
  if (text == "same") return Requirement{Kind::same, 0};
  if (text.starts_with(kWithin)) {
    ASSAY_TRY(const double fraction, parse_within(text.substr(kWithin.size())));
    return Requirement{Kind::within, fraction};
  }
  return fail(ErrorCode::invalid_input, "--require: '{}' is none of faster, same and within:3%",
              sanitize(text, 60));
}

std::vector<Claim> require_of_race(const RunRecord& record, const Requirement& requirement) {
  std::vector<Claim> claims;
  for (const ProblemRecord& problem : record.problems) {
    const PairVerdict* pair = verdict_of_user(problem);
    const std::string what = demand(requirement, record.options.margin);
    if (pair == nullptr) {
      claims.push_back({fmt::format("yours {} on {}", what, problem.name), ClaimState::unproven,
                        why_none(problem), true});
      continue;
    }
    const ClaimState state = state_of(requirement, pair->verdict);
    claims.push_back(
        {fmt::format("{} {} on {}", problem.label(pair->candidate), what, problem.name), state,
         verdict_text(pair->verdict), state != ClaimState::held});
  }
  return claims;
}

Regression no_regression(const RunRecord& record, const RunRecord& previous,
                         std::string_view previous_path) {
  Regression found;
  found.stale = environment_differences(previous.environment, record.environment);
  for (const ProblemRecord& problem : record.problems) {
    const ProblemRecord* before = previous.find(problem.name);
    const PairVerdict* then = before == nullptr ? nullptr : verdict_of_user(*before);
    if (then == nullptr) {
      found.missing.push_back(fmt::format("{} has no verdict on a user's kernel on {}",
                                          sanitize(previous_path, 300), problem.name));
      continue;
    }
    const KernelOutcome& candidate = *before->find(then->candidate);
    const KernelOutcome& other = *before->find(then->other);
    const KernelOutcome *mine = named(problem, candidate), *stock = named(problem, other);
    const auto now = mine == nullptr || stock == nullptr
                         ? std::nullopt
                         : verdict_between(problem, record.options, mine->id, stock->id);
    if (!now) {
      found.missing.push_back(fmt::format("{} against {} on {} is not in this race",
                                          candidate.label(), other.label(), problem.name));
      continue;
    }
    found.claims.push_back(speedup_kept(
        fmt::format("{} is no slower than before on {}", candidate.label(), problem.name),
        then->verdict, *now, record.options.margin));
  }
  return found;
}

}  // namespace assay
