#include "assay/kernel/catalog.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "assay/base/choices.h"
#include "assay/base/text.h"
#include "assay/kernel/filter.h"
#include "assay/kernel/metadata_identity.h"

namespace assay {
namespace {

// Rows of one entry, given the entry's names: made once for rows that share their traits.
class Stamp {
 public:
  explicit Stamp(const Catalog::Entry& entry) : entry_(entry) {}

  // Null where the row has no traits or no rule: a defect of its family.
  const std::shared_ptr<const KernelTraits>& of(const KernelMetadata& row) {
    if (row.traits == given_ && given_) return stamped_;
    given_ = row.traits;
    stamped_ = nullptr;
    if (!given_ || !given_->rule) return stamped_;
    if (given_->provider == entry_.provider && given_->family == entry_.family->name()) {
      stamped_ = given_;
    } else {
      auto traits = std::make_shared<KernelTraits>(*given_);
      traits->provider = entry_.provider;
      traits->family = entry_.family->name();
      stamped_ = std::move(traits);
    }
    return stamped_;
  }

 private:
  const Catalog::Entry& entry_;
  std::shared_ptr<const KernelTraits> given_, stamped_;
};

constexpr std::string_view kDefect = "a defect of the family: a row without traits or rule";

Error thrown(const Catalog::Entry& entry, std::string_view what) {
  return {ErrorCode::failed, fmt::format("family {} of {} threw while its kernels were listed: {}",
                                         entry.family->name(), entry.provider, what)};
}

template <class Call>
Status guarded(const Catalog::Entry& entry, const Call& call) {
  try {
    call();
    return {};
  } catch (const std::exception& error) {
    return fail(thrown(entry, error.what()));
  } catch (...) {
    return fail(thrown(entry, "an exception of an unknown type"));
  }
}

// Rows before matching are turned away once per rule, not once per row.
class Matcher {
 public:
  Matcher(const Problem* problem, const Target* target) : problem_(problem), target_(target) {}
  const Refusals& match(const std::shared_ptr<const ProblemRule>& rule) {
    if (rule != rule_) {
      rule_ = rule;
      refusals_ = rule->match(problem_, target_);
    }
    return refusals_;
  }

 private:
  const Problem* problem_;
  const Target* target_;
  std::shared_ptr<const ProblemRule> rule_;
  Refusals refusals_;
};

}  // namespace

void Catalog::add(std::string provider, ProviderRole role, std::shared_ptr<const Family> family,
                  int rank) {
  const auto behind = std::ranges::upper_bound(entries_, rank, {}, &Entry::rank);
  entries_.insert(behind, {std::move(provider), role, std::move(family), rank});
}

void Catalog::add(const Provider& provider, const ProviderSettings& settings) {
  auto families = provider.families(settings);
  if (!families) {
    missing_[provider.info().name] = families.error().message;
    return;
  }
  const ProviderInfo& info = provider.info();
  for (auto& family : *families) add(info.name, own_role(info), std::move(family), info.rank);
}

Result<Found> Catalog::get_kernels(const KernelQuery& query) const {
  return search(nullptr, query);
}

Result<Found> Catalog::get_kernels(const Problem& problem, const KernelQuery& query) const {
  return search(&problem, query);
}

Status Catalog::check_providers(const std::vector<std::string>& names) const {
  std::vector<std::string> known;
  for (const Entry& entry : entries_) known.push_back(entry.provider);
  for (const auto& [name, reason] : missing_) known.push_back(name);
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  for (const std::string& name : names) {
    if (std::binary_search(known.begin(), known.end(), name)) continue;
    return fail(ErrorCode::not_found, "unknown provider '{}'{}", sanitize(name, 60),
                did_you_mean(name, known, "there are: " + join(known, ", ")));
  }
  return {};
}

Result<Found> Catalog::search(const Problem* problem, const KernelQuery& query) const {
  ASSAY_TRY(check_providers(query.providers));
  const auto asked_for = [&](const std::string& provider) {
    return query.providers.empty() || std::find(query.providers.begin(), query.providers.end(),
                                                provider) != query.providers.end();
  };
  const Target* target = query.target ? &*query.target : nullptr;
  std::optional<Filter> filter;
  if (!query.filter.empty()) {
    ASSAY_TRY(filter, Filter::parse(query.filter));
  }

  Found found;
  for (const auto& [name, reason] : missing_) {
    if (asked_for(name)) found.refusals.add(Reason::library_missing, 1, reason);
  }
  const auto is_wanted = [&](std::string_view family) {
    return query.families.empty() ||
           std::find(query.families.begin(), query.families.end(), family) != query.families.end();
  };
  for (const Entry& entry : entries_) {
    if (!is_wanted(entry.family->name())) continue;
    Stamp stamp(entry);
    if (!asked_for(entry.provider)) {
      int64_t rows = 0;
      const Query everything(nullptr, nullptr, nullptr);
      ASSAY_TRY(guarded(entry, [&] {
        entry.family->do_enumerate(everything, [&](const KernelMetadata&) { ++rows; });
      }));
      found.refusals.add(Reason::provider, rows, entry.provider + " was not asked for");
      continue;
    }
    Matcher matcher(problem, target);
    const Query asked(problem, target, &found.refusals);
    const size_t before = found.kernels.size();
    const auto take = [&](const KernelMetadata& given) {
      const auto& traits = stamp.of(given);
      if (!traits) {
        found.refusals.add(Reason::other, 1, kDefect);
        return;
      }
      // Families need not ask admits(); what they give is matched all the same.
      if (const Refusals& why = matcher.match(traits->rule); !why.empty()) {
        found.refusals.add(why);
        return;
      }
      if (found.kernels.size() == found.kernels.capacity() && !filter && !query.where) {
        // The family has said how many may come; growing step by step costs twice the memory.
        const auto told = static_cast<size_t>(std::min<int64_t>(asked.admitted(), 1 << 20));
        found.kernels.reserve(std::max(2 * found.kernels.size() + 16, before + told));
      }
      Kernel& kernel =
          found.kernels.emplace_back(entry.family, KernelMetadata(traits, given.design));
      const KernelMetadata& row = kernel.metadata();
      const auto drop = [&](Reason reason, std::string_view sentence) {
        found.refusals.add(reason, 1, sentence);
        found.kernels.pop_back();
      };
      if (filter && !filter->matches(row)) return drop(Reason::filter, "left out by the filter");
      if (query.where && !query.where(row)) return drop(Reason::filter, "left out by the filter");
      if (!problem || !target) return;
      if (const Refusals why = entry.family->do_supports(row, *problem, *target); !why.empty()) {
        drop(why.front().reason, why.front().sentence);
      }
    };
    ASSAY_TRY(guarded(entry, [&] { entry.family->do_enumerate(asked, take); }));
  }
  if (filter) {
    ASSAY_TRY(check_filter(*filter));
  }
  return found;
}

Status Catalog::check_filter(Filter& filter) const {
  if (filter.unknown().empty()) return filter.conclude();
  // Rows that the problem or the providers left out may have the attribute.
  const Query everything(nullptr, nullptr, nullptr);
  for (const Entry& entry : entries_) {
    Stamp stamp(entry);
    ASSAY_TRY(guarded(entry, [&] {
      entry.family->do_enumerate(everything, [&](const KernelMetadata& given) {
        if (const auto& traits = stamp.of(given)) filter.note(KernelMetadata(traits, given.design));
      });
    }));
  }
  const std::vector<std::string> unknown = filter.unknown();
  if (unknown.empty()) return filter.conclude();
  if (filter.seen().empty()) return {};  // There are no kernels, so nothing is known of names.
  const std::vector<std::string> known(filter.seen().begin(), filter.seen().end());
  return fail(ErrorCode::invalid_input, "filter: no kernel has an attribute '{}'{}",
              sanitize(unknown.front(), 60),
              did_you_mean(unknown.front(), known, "known are " + join(known, ", ")));
}

Result<Kernel> Catalog::find(std::string_view id, const Problem* problem) const {
  const bool digits = std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
  if (!digits || id.size() < 8 || id.size() > 64) {
    return fail(ErrorCode::invalid_input,
                "'{}' is no kernel id: give its 64 hexadecimal digits, or the first 8 or more",
                sanitize(id, 80));
  }
  std::vector<Kernel> matches;
  std::string first;
  for (const Entry& entry : entries_) {
    Stamp stamp(entry);
    KernelIds ids;
    const Query query(problem, nullptr, nullptr);
    ASSAY_TRY(guarded(entry, [&] {
      entry.family->do_enumerate(query, [&](const KernelMetadata& given) {
        const auto& traits = stamp.of(given);
        if (!traits || matches.size() > 1) return;
        const KernelMetadata row(traits, given.design);
        std::string known = ids.id(row);
        // A row that is known by its earlier id, too.
        const bool fits = known.starts_with(id) || ids.id_of_version_1(row).starts_with(id);
        if (!fits || known == first) return;
        matches.emplace_back(entry.family, row);
        first = std::move(known);
      });
    }));
  }
  if (matches.empty()) return fail(ErrorCode::not_found, "no kernel has the id {}", id);
  if (matches.size() > 1) {
    return fail(ErrorCode::invalid_input, "more than one kernel's id starts with {}: {} and {}", id,
                matches[0].metadata().name(), matches[1].metadata().name());
  }
  return std::move(matches.front());
}

Result<Kernel> Catalog::from_metadata(const KernelMetadata& metadata) const {
  if (!metadata.traits || !metadata.traits->rule) {
    return fail(ErrorCode::invalid_input, "kernel metadata without a rule");
  }
  for (const Entry& entry : entries_) {
    if (entry.provider == metadata.provider() && entry.family->name() == metadata.family()) {
      return Kernel(entry.family, metadata);
    }
  }
  const auto missing = missing_.find(metadata.provider());
  return fail(ErrorCode::not_found, "no family {} of provider {} is here{}",
              sanitize(metadata.family(), 60), sanitize(metadata.provider(), 60),
              missing == missing_.end() ? "" : ": " + missing->second);
}

}  // namespace assay
