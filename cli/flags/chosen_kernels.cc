#include "cli/flags/chosen_kernels.h"

#include <algorithm>

#include <fmt/format.h>

#include "assay/base/choices.h"
#include "assay/base/text.h"
#include "cli/exit_code.h"

namespace assay::cli {
namespace {

constexpr size_t kShortestId = 8;

bool is_id_prefix(const std::string& word) {
  return word.size() >= kShortestId &&
         word.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool names(const std::string& word, const std::vector<std::string>& families,
           const process::OfferedKernel& row) {
  const KernelMetadata& metadata = row.metadata;
  // Of a library, a family may have the same name.
  if (!families.empty())
    return row.role == ProviderRole::user &&
           std::find(families.begin(), families.end(), metadata.family()) != families.end();
  return word == metadata.name() || word == metadata.provider() + '/' + metadata.name() ||
         (is_id_prefix(word) && metadata.id().starts_with(word));
}

std::string family_part(const std::string& word) { return word.substr(word.rfind('/') + 1); }

// Names of the kernels of the family that is meant, FAMILY or PROVIDER/FAMILY.
std::vector<std::string> members_of(const std::string& word, const sweep::Discovery& found) {
  std::vector<std::string> members;
  for (const process::OfferedKernel& row : found.rows) {
    const KernelMetadata& metadata = row.metadata;
    if (word == metadata.family() || word == metadata.provider() + '/' + metadata.family())
      members.push_back(metadata.name());
  }
  return members;
}

std::string kernels_text(size_t count) {
  return fmt::format("{} kernel{}", count, count == 1 ? "" : "s");
}

std::string first_of(const std::vector<std::string>& names) {
  constexpr size_t kShown = 8;
  const std::vector<std::string> first(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, names.size())));
  return sanitize(join(first, ", "), 2000) +
         (names.size() > kShown ? fmt::format(" and {} more (assay kernels)", names.size() - kShown)
                                : "");
}

// Why it cannot take the problem; empty where that cannot be told in a sentence.
std::string refusal_of(const sweep::Request& request, const KernelMetadata& kernel) {
  sweep::Request alone = request;
  narrow(alone, std::span(&kernel, 1));
  const auto found = sweep::discover(alone, &request.question.problems.front(), "");
  if (!found) return {};
  std::vector<std::string> sentences;
  for (const auto& [reason, refusal] : found->refusals)
    if (reason != Reason::filter) sentences.push_back(refusal.example);
  return sentences.size() == 1 ? sentences.front() : std::string();
}

}  // namespace

Result<KernelMetadata> find_kernel(const sweep::Request& request, const std::string& word,
                                   const std::vector<std::string>& families) {
  const Problem& problem = request.question.problems.front();
  ASSAY_TRY(const sweep::Discovery found, sweep::discover(request, &problem, ""));
  std::vector<const KernelMetadata*> matches;
  std::vector<std::string> known;
  for (const process::OfferedKernel& row : found.rows) {
    known.push_back(row.metadata.provider() + '/' + row.metadata.name());
    if (names(word, families, row)) matches.push_back(&row.metadata);
  }
  if (matches.size() == 1) return *matches.front();
  if (matches.size() > 1) {
    std::vector<std::string> ids;
    for (size_t i = 0; i < matches.size() && i < 5; ++i)
      ids.push_back(fmt::format("{} ({}/{})", matches[i]->id().substr(0, 12),
                                matches[i]->provider(), matches[i]->name()));
    return fail(ErrorCode::invalid_input, "'{}' fits {} kernels; name one by its id: {}",
                sanitize(word, 200), matches.size(), join(ids, ", "));
  }
  if (const auto members = members_of(word, found); families.empty() && !members.empty())
    return fail(ErrorCode::invalid_input, "'{}' is a family of {}; name one: {}",
                sanitize(word, 200), kernels_text(members.size()), first_of(members));
  // It may exist and not be able to.
  ASSAY_TRY(const sweep::Discovery all, sweep::discover(request, nullptr, ""));
  for (const process::OfferedKernel& row : all.rows) {
    if (!names(word, families, row)) continue;
    if (const std::string why = refusal_of(request, row.metadata); !why.empty())
      return fail(ErrorCode::unsupported, "{}/{} cannot take {}: {}", row.metadata.provider(),
                  row.metadata.name(), problem.name(), sanitize(why, 600));
    return fail(ErrorCode::unsupported,
                "{}/{} cannot take {}; `assay kernels --shape ... --filter \"name == '{}'\" "
                "--why` says why",
                row.metadata.provider(), row.metadata.name(), problem.name(), row.metadata.name());
  }
  if (const auto members = members_of(word, all); families.empty() && !members.empty())
    return fail(ErrorCode::unsupported,
                "'{}' is a family of {}, and none of them can take {}; `assay kernels --shape ... "
                "--filter \"family == '{}'\" --why` says why",
                sanitize(word, 200), kernels_text(members.size()), problem.name(),
                sanitize(family_part(word), 200));
  return fail(ErrorCode::not_found, "no kernel is called '{}'{}", sanitize(word, 200),
              did_you_mean(word, known, "`assay kernels` lists them"));
}

void narrow(sweep::Request& request, std::span<const KernelMetadata> kernels) {
  KernelChoice& choice = request.pool.only.emplace_back();
  for (const KernelMetadata& kernel : kernels) choice.ids.push_back(kernel.id());
  const auto is_of = [](const process::AskedProvider& provider, const KernelMetadata& kernel) {
    return provider.name == kernel.provider();
  };
  const bool built_in = std::ranges::all_of(kernels, [&](const KernelMetadata& kernel) {
    return std::ranges::any_of(request.pool.providers,
                               [&](const auto& provider) { return is_of(provider, kernel); });
  });
  if (!built_in) return;
  std::erase_if(request.pool.providers, [&](const auto& provider) {
    return std::ranges::none_of(
        kernels, [&](const KernelMetadata& kernel) { return is_of(provider, kernel); });
  });
}

std::string folder_part(const KernelMetadata& kernel) {
  std::string safe = kernel.name().substr(0, 60);
  for (char& c : safe)
    if (!matches_name_rule(std::string_view(&c, 1)) && c != '.') c = '_';
  return safe;
}

namespace {

// Proven and timed is not enough: where no round was clean there is no time.
bool has_time(const ProblemRecord& problem, const KernelOutcome& kernel) {
  if (!is_timed(kernel.ending)) return false;
  const Conclusion* conclusion = problem.conclusion();
  return (kernel.race && kernel.race->median_us > 0) ||
         (conclusion != nullptr && conclusion->median_us(kernel.id) > 0);
}

}  // namespace

int timed_exit_code(const RunRecord& record) {
  bool launched = false, timed = true;
  for (const ProblemRecord& problem : record.problems) {
    bool any = false;
    for (const KernelOutcome& kernel : problem.kernels) {
      launched |= !std::holds_alternative<ending::Refusal>(kernel.ending) &&
                  !std::holds_alternative<ending::BuildFailure>(kernel.ending);
      any |= has_time(problem, kernel);
    }
    timed &= any;
  }
  return timed ? kDone : launched ? kRefuted : kNothingRan;
}

}  // namespace assay::cli
