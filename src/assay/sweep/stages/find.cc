#include "assay/sweep/stages/find.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "assay/kernel/metadata_identity.h"
#include "assay/sweep/stages/rank.h"
#include "assay/sweep/stages/station.h"

namespace assay::sweep {
namespace {

constexpr double kDiscoverSeconds = 120;

// What a worker is asked for on behalf of a request.
Result<Discovery> ask_for_rows(Child& worker, const Request& request, process::Discover asked,
                               const std::string& target) {
  asked.filter = request.pool.filter;
  asked.only = request.pool.only;
  if (!target.empty()) asked.target = target;
  ASSAY_TRY(auto answer, ask(worker, asked, kDiscoverSeconds, "looking for kernels"));
  return Discovery{std::move(answer.kernels), std::move(answer.refusals),
                   std::move(answer.missing)};
}

KernelRole record_role(ProviderRole role) {
  switch (role) {
    case ProviderRole::stock:
      return KernelRole::stock;
    case ProviderRole::ours:
      return KernelRole::ours;
    case ProviderRole::user:
      return KernelRole::user;
    case ProviderRole::reference:
      return KernelRole::reference;
  }
  return KernelRole::user;
}

// families: of those alone; empty: of all.
Result<Discovery> ask_what_there_is(Crew& crew, const Request& request, const Problem* problem,
                                    const std::string& target,
                                    const std::vector<std::string>& families) {
  ASSAY_TRY(Child * worker, crew.discoverer());
  process::Discover asked;
  asked.families = families;
  if (problem != nullptr) asked.problem = *problem;
  return ask_for_rows(*worker, request, std::move(asked), target);
}

Result<std::vector<std::vector<Discovery>>> ask_for_each_source(const Request& request) {
  std::vector<std::vector<Discovery>> all;
  Crew crew(request);
  for (const input::KernelSource& source : request.pool.kernels) {
    auto& of_source = all.emplace_back();
    for (const Problem& problem : request.question.problems) {
      ASSAY_TRY(of_source.emplace_back(),
                ask_what_there_is(crew, request, &problem, "", source.families()));
    }
  }
  return all;
}

}  // namespace

Result<Discovery> discover(const Request& request, const Problem* problem,
                           const std::string& target) {
  Crew crew(request);
  return ask_what_there_is(crew, request, problem, target, {});
}

Result<std::vector<std::vector<Discovery>>> discover_each_source(const Request& request) {
  Request alone = request;
  alone.pool.providers.clear();
  return ask_for_each_source(alone);
}

namespace {

// Why the race's class keeps it out; empty where it does not.
Refusals outside_class(const KernelMetadata& row, const measure::RaceClass& race_class) {
  Refusals refusals;
  if (row.prepares() && race_class.preparation == measure::Preparation::none)
    refusals.add(
        Reason::preparation_class,
        fmt::format("{} packs a constant operand, and this race forbids preparation; --preparation "
                    "allowed lets it",
                    row.name()));
  else if (row.dependent_launch() &&
           race_class.dependent_launch == measure::DependentLaunch::forbidden)
    refusals.add(
        Reason::dependent_launch_class,
        fmt::format("{} launches dependently, and this race forbids it; --dependent-launch "
                    "allowed lets it",
                    row.name()));
  return refusals;
}

// Makes candidates of rows. What rows of a family share is one object in all of them.
class Entries {
 public:
  Candidate enter(const process::OfferedKernel& row) {
    const KernelMetadata& metadata = row.metadata;
    if (metadata.traits != traits_) {
      traits_ = metadata.traits;
      shared_ = pool_.share(metadata.shared_json());
    }
    Candidate candidate;
    candidate.is_default = metadata.design.truth("default", false);
    candidate.deterministic = metadata.deterministic();
    candidate.error_bound = metadata.error_bound();
    candidate.family = metadata.family();
    candidate.prepares = metadata.prepares();
    candidate.compile_seconds = metadata.compile_seconds();
    if (candidate.compile_seconds > 0) candidate.artifact_id = ids_.artifact_id(metadata);
    KernelOutcome& outcome = candidate.outcome;
    outcome.id = ids_.id(metadata);
    outcome.provider = metadata.provider();
    outcome.name = metadata.name();
    outcome.role = record_role(row.role);
    outcome.metadata = {shared_, CompactJson(metadata.own_json(outcome.id))};
    outcome.ending = ending::Timed{};
    return candidate;
  }

 private:
  KernelIds ids_;
  JsonPool pool_;
  std::shared_ptr<const KernelTraits> traits_;  // Of the row before.
  CompactJson shared_;
};

}  // namespace

Result<Field> find_candidates(const Station& station) {
  ASSAY_TRY(Child * worker, station.crew.discoverer());
  Field field;
  Entries entries;
  RefusalCounts outside;
  std::vector<KernelMetadata> rows;
  process::Discover asked;
  asked.problem = station.problem;
  ASSAY_TRY(const Discovery discovery, ask_for_rows(*worker, station.request, asked, ""));
  for (const process::OfferedKernel& row : discovery.rows) {
    if (row.role == ProviderRole::reference) continue;  // Never raced.
    const Refusals refusals = outside_class(row.metadata, station.request.question.race_class);
    outside.add(refusals);
    if (!refusals.empty()) continue;
    field.candidates.push_back(entries.enter(row));
    rows.push_back(row.metadata);
  }
  field.refusals = discovery.refusals;
  field.refusals.merge(outside);
  ASSAY_TRY(rank(station.request, station.crew, station.problem, std::nullopt, rows, field));
  return field;
}

Result<std::set<std::string>> find_first(const Request& request, const Problem& problem,
                                         const std::string& target,
                                         std::span<const process::OfferedKernel> rows) {
  Request asked = request;
  std::erase_if(asked.pool.rankers, [&](const process::AskedRanker& ranker) {
    return ranker.name != request.pool.ranker;
  });
  Crew crew(asked);
  Field field;
  Entries entries;
  std::vector<KernelMetadata> metadata;
  for (const process::OfferedKernel& row : rows) {
    field.candidates.push_back(entries.enter(row));
    metadata.push_back(row.metadata);
  }
  ASSAY_TRY(rank(asked, crew, problem, target, metadata, field));
  std::set<std::string> first;
  for (const Candidate& candidate : field.candidates)
    if (request.pool.build <= 0 || candidate.place <= request.pool.build)
      first.insert(candidate.outcome.id);
  return first;
}

}  // namespace assay::sweep
