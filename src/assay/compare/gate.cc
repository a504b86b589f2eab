#include "assay/compare/gate.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

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

std::vector<const KernelOutcome*> users_kernels(const ProblemRecord& problem) {
  std::vector<const KernelOutcome*> kernels;
  for (const KernelOutcome& kernel : problem.kernels)
    if (kernel.role == KernelRole::user) kernels.push_back(&kernel);
  return kernels;
}

// Of a name that this race does not have, it is the user's only kernel in both races, renamed.
const KernelOutcome* named_or_renamed(const ProblemRecord& before, const KernelOutcome& wanted,
                                      const ProblemRecord& problem) {
  if (const KernelOutcome* const kernel = named(problem, wanted)) return kernel;
  const auto now = users_kernels(problem);
  return now.size() == 1 && users_kernels(before).size() == 1 ? now.front() : nullptr;
}

std::string not_here(const ProblemRecord& problem, const KernelOutcome& wanted) {
  std::string names;
  for (const KernelOutcome* const kernel : users_kernels(problem))
    names += (names.empty() ? "" : ", ") + kernel->label();
  return fmt::format(
      "this race has no kernel {} on {}{}: a kernel is found by its name, or hold the two sources "
      "against one another with --against",
      wanted.label(), problem.name, names.empty() ? "" : " (yours are " + names + ")");
}

// Of both records, against one stock kernel.
struct BothVerdicts {
  stats::Verdict then, now;
};

// Against whom the earlier verdict is, if this race confirmed that one as well; else the first
// other stock kernel by name that both confirmed. Which of two near-equal kernels leads may change
// from race to race.
std::optional<BothVerdicts> against_one_stock_kernel(
    const ProblemRecord& before, const RunOptions& options_then, const PairVerdict& then,
    const ProblemRecord& problem, const RunOptions& options, const KernelOutcome& mine) {
  std::vector<const KernelOutcome*> others;
  for (const KernelOutcome& kernel : before.kernels)
    if (kernel.role == KernelRole::stock) others.push_back(&kernel);
  std::ranges::sort(others, {}, [&](const KernelOutcome* kernel) {
    return std::pair(kernel->id != then.other, kernel->label());
  });
  for (const KernelOutcome* other : others) {
    const KernelOutcome* const stock = named(problem, *other);
    if (stock == nullptr) continue;
    const auto earlier = other->id == then.other
                             ? std::optional(then.verdict)
                             : verdict_between(before, options_then, then.candidate, other->id);
    const auto now = verdict_between(problem, options, mine.id, stock->id);
    if (earlier && now) return BothVerdicts{*earlier, *now};
  }
  return std::nullopt;
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
         fmt::format("{}; at least {:.3g} x is wanted", verdict_text(pair->verdict),
                     limit_of(requirement, pair->verdict.margin)),
         state != ClaimState::held});
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
    const KernelOutcome* const mine = named_or_renamed(*before, candidate, problem);
    if (mine == nullptr) {
      found.missing.push_back(not_here(problem, candidate));
      continue;
    }
    const auto both =
        against_one_stock_kernel(*before, previous.options, *then, problem, record.options, *mine);
    if (!both) {
      found.missing.push_back(fmt::format(
          "{} was not timed against {} on {}, nor against another stock kernel of then: race with "
          "--provider {} alone, or hold the two sources against one another with --against",
          candidate.label(), other.label(), problem.name, other.provider));
      continue;
    }
    const std::string then_named =
        mine->label() == candidate.label() ? "" : candidate.label() + " ";
    found.claims.push_back(speedup_kept(
        fmt::format("{} is no slower than {}before on {}", mine->label(), then_named, problem.name),
        both->then, both->now, record.options.margin));
  }
  return found;
}

}  // namespace assay
