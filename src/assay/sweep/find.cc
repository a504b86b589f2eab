#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/sweep/protocol.h"
#include "assay/sweep/stages.h"

namespace assay::sweep {
namespace {

constexpr double kDiscoverSeconds = 120;

Result<Discovery> ask_for_rows(Child& worker, Json message, const Request& request,
                               const std::string& target) {
  message["filter"] = request.filter;
  if (!target.empty()) message["target"] = target;
  ASSAY_TRY(const Message answer, ask(worker, message, kDiscoverSeconds, "looking for kernels"));
  Discovery discovery;
  ASSAY_TRY(const Json* rows, member(answer.json, "rows"));
  for (const Json& row : *rows) {
    ASSAY_TRY(const Json* metadata, member(row, "metadata"));
    DiscoveredRow found;
    ASSAY_TRY(found.metadata, KernelMetadata::from_json(*metadata));
    ASSAY_TRY(const std::string role, text(row, "role"));
    for (const auto known :
         {ProviderRole::stock, ProviderRole::ours, ProviderRole::user, ProviderRole::reference})
      if (to_string(known) == role) found.role = known;
    discovery.rows.push_back(std::move(found));
  }
  ASSAY_TRY(const Json* refusals, member(answer.json, "refusals"));
  ASSAY_TRY(discovery.refusals, RefusalCounts::from_json(*refusals));
  ASSAY_TRY(const Json* missing, member(answer.json, "missing"));
  for (const auto& [provider, reason] : missing->items())
    if (reason.is_string()) discovery.missing[provider] = reason.get<std::string>();
  return discovery;
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

}  // namespace

Json Station::message(const char* what) const {
  return {{"do", what}, {"problem", problem.to_json()}, {"operation", problem.operation()}};
}

Result<Discovery> discover(const Request& request, const Problem* problem,
                           const std::string& target) {
  Crew crew(request);
  ASSAY_TRY(Child * worker, crew.builder());
  Json message = {{"do", "discover"}};
  if (problem != nullptr) {
    message["problem"] = problem->to_json();
    message["operation"] = problem->operation();
  }
  return ask_for_rows(*worker, std::move(message), request, target);
}

Result<Field> find_candidates(const Station& station) {
  ASSAY_TRY(Child * worker, station.crew.builder());
  ASSAY_TRY(Discovery discovery,
            ask_for_rows(*worker, station.message("discover"), station.request, ""));
  Field field;
  field.refusals = std::move(discovery.refusals);
  const auto& race_class = station.request.race_class;
  for (DiscoveredRow& row : discovery.rows) {
    if (row.role == ProviderRole::reference) continue;  // Never raced.
    if (row.metadata.prepares() && race_class.preparation == measure::Preparation::none) {
      field.refusals.add(
          Reason::preparation_class, 1,
          fmt::format("{} packs a constant operand, and this race forbids preparation",
                      row.metadata.name()));
      continue;
    }
    if (row.metadata.dependent_launch() &&
        race_class.dependent_launch == measure::DependentLaunch::forbidden) {
      field.refusals.add(
          Reason::dependent_launch_class, 1,
          fmt::format("{} launches dependently, and this race forbids it", row.metadata.name()));
      continue;
    }
    Candidate candidate;
    candidate.row = row.metadata.to_json();
    candidate.is_default = row.metadata.design.truth("default", false);
    candidate.outcome.id = row.metadata.id();
    candidate.outcome.provider = row.metadata.provider();
    candidate.outcome.name = row.metadata.name();
    candidate.outcome.role = record_role(row.role);
    candidate.outcome.metadata = candidate.row;
    candidate.outcome.ending = ending::Timed{};
    field.candidates.push_back(std::move(candidate));
  }
  return field;
}

}  // namespace assay::sweep
