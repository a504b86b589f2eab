#include <utility>

#include <nlohmann/json.hpp>

#include "assay/sweep/protocol.h"
#include "assay/sweep/run_facts.h"
#include "assay/sweep/stages.h"
#include "assay/sweep/trust.h"

namespace assay::sweep {
namespace {

Result<std::vector<RankerReport>> ask_rankers(const Request& request, Crew& crew) {
  constexpr double kSeconds = 60;  // Libraries from a cold disk.
  Json message = {{"do", "rankers"}, {"rankers", to_json(request.rankers)}};
  ASSAY_TRY(Child * worker, crew.builder());
  ASSAY_TRY(const Message answer, ask(*worker, message, kSeconds, "asking rankers"));
  std::vector<RankerReport> reports;
  for (const Json& json : answer.json.value("rankers", Json::array())) {
    RankerReport& report = reports.emplace_back();
    report.name = json.value("name", "");
    report.availability.reason = json.value("missing", "");
    report.availability.available = !json.contains("missing");
    report.availability.version = json.value("version", "");
    report.availability.path = json.value("path", "");
  }
  return reports;
}

}  // namespace

Result<MachineReport> inspect(const Request& request, bool thorough) {
  Crew crew(request);
  ASSAY_TRY(crew.builder().map([](Child*) {}));
  MachineReport report;
  for (const Json& json : crew.facts().providers) {
    ProviderReport provider;
    provider.name = json.value("name", "");
    for (const auto role :
         {ProviderRole::stock, ProviderRole::ours, ProviderRole::user, ProviderRole::reference})
      if (to_string(role) == json.value("role", "")) provider.role = role;
    provider.availability = {json.value("available", false), json.value("reason", ""),
                             json.value("version", ""), json.value("path", ""),
                             json.value("details", Json::object())};
    report.providers.push_back(std::move(provider));
  }
  if (!request.rankers.empty()) {
    ASSAY_TRY(report.rankers, ask_rankers(request, crew));
  }
  report.environment = describe(request, crew);
  report.environment.libraries = with_build_hashes(std::move(report.environment.libraries));
  report.target = crew.facts().target;
  if (thorough) {
    crew.on_confined([&](const Confinement& confinement) -> Status {
      const Trust trust = trust_in(confinement);
      report.trust = trust.grade;
      report.trust_reason = trust.reason;
      return {};
    });
    ASSAY_TRY(crew.runner().map([](Child*) {}));
    Request at_once = request;
    at_once.lock.wait = false;
    const auto lock = hold_device(at_once, [](std::string_view) {});
    if (lock) {
      ASSAY_TRY(report.environment.ceilings, measure_ceilings(crew));
    } else {
      report.not_measured = lock.error().message;
    }
  }
  return report;
}

}  // namespace assay::sweep
