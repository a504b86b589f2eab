#include "assay/select/tuned_table.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "assay/base/text.h"
#include "assay/op/operation.h"
#include "assay/select/table_state.h"

namespace assay {
namespace {

constexpr size_t kShownReasons = 6;

std::string sentences_of(const Refusals& refusals) {
  std::string all;
  for (const Refusal& refusal : refusals)
    all += fmt::format("{}{}", all.empty() ? "" : ", ", refusal.sentence);
  return all;
}

Choice make_choice(const TableState& table, uint32_t problem, uint32_t rank, ChoiceRule rule,
                   float distance) {
  const TableChoice& tuned = table.contents().problems[problem].choices[rank];
  return {.kernel = &*table.kernels()[tuned.kernel].kernel,
          .rule = rule,
          .problem = problem,
          .rank = rank,
          .distance = distance,
          .tuned_us = tuned.median_us};
}

Choice exact_choice(const TableState& table, const DigestMap::Answer& found) {
  return {.kernel = &*table.kernels()[found.kernel].kernel,
          .rule = ChoiceRule::exact,
          .problem = found.problem,
          .rank = found.rank,
          .distance = 0,
          .tuned_us = found.tuned_us};
}

bool is_aligned(const TableState& table, const ProblemDigest& digest,
                const DigestMap::Answer& found) {
  return aligned_as(digest.alignments, table.contents().problems[found.problem].alignments);
}

uint32_t kernel_of(const TableState& table, const Choice& choice) {
  return table.contents().problems[choice.problem].choices[choice.rank].kernel;
}

using Hits = std::array<SizeIndex::Hit, kNeighbours>;

// The tuned problems of a kind that are asked about another one, the nearest first.
std::span<const SizeIndex::Hit> nearest_of(const TableState::Kind& kind, const Problem& problem,
                                           Hits& hits) {
  return std::span(hits).first(kind.index.nearest(measures_of(problem).span(), hits));
}

// By the rule `nearest`, every kernel that they have, the least expected loss first, until `take`
// is content: whether it was. Allocates nothing.
template <class Take>
bool each_by_expected_loss(const TableState& table, const TableState::Kind& kind,
                           std::span<const SizeIndex::Hit> hits, const Take& take) {
  std::array<Neighbour, kNeighbours> neighbours;
  for (size_t i = 0; i < hits.size(); ++i) neighbours[i] = kind.neighbour(hits[i]);
  std::array<Candidate, kMostCandidates> candidates;
  const size_t count = rank_candidates(std::span(neighbours).first(hits.size()), candidates);
  for (const Candidate& candidate : std::span(candidates).first(count)) {
    const SizeIndex::Hit& hit = hits[candidate.neighbour];
    if (take(make_choice(table, kind.problems[hit.point], candidate.rank, ChoiceRule::nearest,
                         hit.distance)))
      return true;
  }
  return false;
}

// Every kernel of the table that speaks for the problem, each once, the most fitting first, until
// `take` is content.
void each_choice(const TableState& table, const Problem& problem,
                 const std::function<bool(const Choice&)>& take) {
  std::vector<bool> seen(table.kernels().size(), false);
  const auto offer = [&](const Choice& choice) {
    const uint32_t kernel = kernel_of(table, choice);
    if (seen[kernel]) return false;
    seen[kernel] = true;
    return take(choice);
  };
  const auto offer_all = [&](uint32_t tuned, ChoiceRule rule, float distance) {
    const auto& choices = table.contents().problems[tuned].choices;
    for (uint32_t rank = 0; rank < choices.size(); ++rank)
      if (table.kernels()[choices[rank].kernel].kernel &&
          offer(make_choice(table, tuned, rank, rule, distance)))
        return true;
    return false;
  };
  const ProblemDigest digest = digest_of(problem);
  if (const DigestMap::Answer* found = table.by_measures().find(digest.whole)) {
    const bool aligned = is_aligned(table, digest, *found);
    if (offer_all(found->problem, aligned ? ChoiceRule::exact : ChoiceRule::less_aligned, 0))
      return;
  }
  const TableState::Kind* kind = table.find_kind(digest.kind);
  if (kind == nullptr) return;
  Hits hits;
  if (each_by_expected_loss(table, *kind, nearest_of(*kind, problem, hits), offer)) return;
  // All are put in order only where none of these will do.
  for (const SizeIndex::Hit& hit : kind->index.by_distance(measures_of(problem).span()))
    if (offer_all(kind->problems[hit.point], ChoiceRule::nearest, hit.distance)) return;
}

tl::unexpected<Error> no_such_kind(const TableState& table, const Problem& problem) {
  // Lifetimes are what callers forget: the same kind but for them is worth naming.
  const auto bare = [](std::string text) {
    constexpr std::string_view kWord = " constant";
    for (size_t at = text.find(kWord); at != std::string::npos; at = text.find(kWord))
      text.erase(at, kWord.size());
    return text;
  };
  const std::string kind = kind_of(problem);
  std::string known, alike;
  for (const TableKind& one : table.contents().kinds) {
    if (known.size() < 1000) known += fmt::format("{}'{}'", known.empty() ? "" : ", ", one.text);
    if (alike.empty() && bare(one.text) == bare(kind)) alike = one.text;
  }
  if (!alike.empty())
    return fail(
        ErrorCode::unsupported,
        "{}: the table has such problems only with other lifetimes: '{}', and this is '{}'. "
        "Name the operands that stay the same over many launches in `constant`, or tune "
        "with constant=none",
        problem.name(), sanitize(alike, 400), kind);
  return fail(ErrorCode::unsupported, "{}: no tuned problem is of the kind '{}'; the table has: {}",
              problem.name(), kind, sanitize(known, 1200));
}

tl::unexpected<Error> nothing_fits(const Problem& problem,
                                   const std::vector<std::string>& reasons) {
  std::vector<std::string> shown(
      reasons.begin(),
      reasons.begin() + static_cast<std::ptrdiff_t>(std::min(reasons.size(), kShownReasons)));
  if (reasons.size() > shown.size())
    shown.push_back(fmt::format("and {} more", reasons.size() - shown.size()));
  return fail(ErrorCode::unsupported, "{}: no kernel of the table can run it: {}", problem.name(),
              join(shown, "; "));
}

// "exact: NAME", "nearest: NAME, at a distance of 0.58; NAME, at 1.00".
std::string reason_of(const TableState& table, const Problem& problem, const Choice& choice) {
  const auto& problems = table.contents().problems;
  std::string text = fmt::format("{}: ", to_string(choice.rule));
  const std::string number =
      choice.rank > 0 ? fmt::format(", its choice number {}", choice.rank + 1) : "";
  if (choice.rule != ChoiceRule::nearest) return text + problems[choice.problem].name + number;
  const TableState::Kind& kind = *table.find_kind(digest_of(problem).kind);
  Hits hits;
  const auto asked = nearest_of(kind, problem, hits);
  // Where none of their kernels would do, a problem further away decided by itself.
  if (std::none_of(asked.begin(), asked.end(), [&](const SizeIndex::Hit& hit) {
        return kind.problems[hit.point] == choice.problem;
      }))
    return text + fmt::format("{}, at a distance of {:.2f}{}", problems[choice.problem].name,
                              choice.distance, number);
  for (const SizeIndex::Hit& hit : asked)
    text += fmt::format("{}{}, at {}{:.2f}", &hit == asked.data() ? "" : "; ",
                        problems[kind.problems[hit.point]].name,
                        &hit == asked.data() ? "a distance of " : "", hit.distance);
  return text;
}

}  // namespace

std::string_view to_string(ChoiceRule rule) {
  switch (rule) {
    case ChoiceRule::exact:
      return "exact";
    case ChoiceRule::less_aligned:
      return "less_aligned";
    case ChoiceRule::nearest:
      return "nearest";
  }
  return "unknown";
}

Result<TunedTable> TunedTable::load(const std::filesystem::path& path, const Catalog& catalog,
                                    const TableOptions& options) {
  ASSAY_TRY(TableContents contents, read_table_file(path.string()));
  auto table = create(std::move(contents), catalog, options);
  if (!table) return fail(with_context(std::move(table.error()), sanitize(path.string(), 400)));
  return table;
}

Result<TunedTable> TunedTable::create(TableContents contents, const Catalog& catalog,
                                      const TableOptions& options) {
  ASSAY_TRY(auto state, TableState::make(std::move(contents), catalog, options));
  return TunedTable(std::move(state));
}

const std::vector<std::string>& TunedTable::staleness() const { return state_->staleness(); }

const TableContents& TunedTable::contents() const { return state_->contents(); }

Result<Choice> TunedTable::choose(const Problem& problem, const Target& target) const {
  const TableState& table = *state_;
  if (const DigestMap::Answer* known = table.by_signature().find(problem.digest()))
    return exact_choice(table, *known);
  const ProblemDigest digest = digest_of(problem);
  const DigestMap::Answer* found = table.by_measures().find(digest.whole);
  if (found != nullptr && is_aligned(table, digest, *found)) return exact_choice(table, *found);
  if (const TableState::Kind* kind = table.find_kind(digest.kind); kind != nullptr && !found) {
    // Nearly always one of the neighbours' kernels can; then nothing is allocated.
    std::optional<Choice> chosen;
    Hits hits;
    each_by_expected_loss(table, *kind, nearest_of(*kind, problem, hits),
                          [&](const Choice& choice) {
                            if (choice.kernel->supports(problem, target).empty()) chosen = choice;
                            return chosen.has_value();
                          });
    if (chosen) return *chosen;
  }
  std::vector<std::string> reasons;
  std::optional<Choice> chosen;
  each_choice(table, problem, [&](const Choice& choice) {
    const Refusals refusals = choice.kernel->supports(problem, target);
    if (refusals.empty())
      chosen = choice;
    else
      reasons.push_back(
          fmt::format("{}: {}", choice.kernel->metadata().name(), sentences_of(refusals)));
    return chosen.has_value();
  });
  if (chosen) return *chosen;
  if (reasons.empty()) return no_such_kind(table, problem);
  return nothing_fits(problem, reasons);
}

Result<TunedPlan> TunedTable::plan(const Arguments& arguments, Device& device) const {
  const TableState& table = *state_;
  const Problem& problem = arguments.problem;
  const auto bind = [&](const Choice& choice) -> Result<TunedPlan> {
    const Kernel& kernel = *choice.kernel;
    if (const Refusals refusals = kernel.supports(problem, device.target()); !refusals.empty())
      return fail(ErrorCode::unsupported, "{}", sentences_of(refusals));
    TunedPlan made;
    ASSAY_TRY(const Artifact artifact,
              table.artifact(kernel_of(table, choice), problem, device.target()));
    const size_t bytes = kernel.workspace_bytes(problem, device.threads());
    if (bytes > 0) {
      ASSAY_TRY(made.workspace_, device.allocate(bytes, {}));
    }
    std::span<std::byte> workspace;
    if (made.workspace_)
      workspace = {static_cast<std::byte*>(made.workspace_->data()), made.workspace_->bytes()};
    ASSAY_TRY(made.plan_, kernel.plan({.arguments = arguments,
                                       .artifact = artifact,
                                       .device = device,
                                       .workspace = workspace,
                                       .threads = device.threads()}));
    made.choice_ = choice;
    made.table_ = state_;
    return made;
  };
  Result<TunedPlan> made = fail(ErrorCode::internal, "no choice");
  std::vector<std::string> reasons;
  bool tried = false, ended = false;
  each_choice(table, problem, [&](const Choice& choice) {
    tried = true;
    made = bind(choice);
    if (made) return true;
    // What is wrong with the pointers, or the machine, is so for every kernel.
    ended =
        made.error().code == ErrorCode::invalid_input || made.error().code == ErrorCode::machine;
    reasons.push_back(
        fmt::format("{}: {}", choice.kernel->metadata().name(), made.error().message));
    return ended;
  });
  if (!tried) return no_such_kind(table, problem);
  if (ended) return fail(with_context(std::move(made.error()), problem.name()));
  if (!made) return nothing_fits(problem, reasons);
  made->reason_ = reason_of(table, problem, made->choice_);
  made->notes_ = std::move(reasons);
  const uint32_t kernel = kernel_of(table, made->choice_);
  if (const std::string& stale = table.kernels()[kernel].stale; !stale.empty())
    made->notes_.push_back("stale: " + stale);
  const int threads = table.contents().origin.threads;
  if (threads != 0 && threads != device.threads())
    made->notes_.push_back(
        fmt::format("tuned with {} threads, bound to {}", threads, device.threads()));
  return made;
}

}  // namespace assay
