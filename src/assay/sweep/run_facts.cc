#include "assay/sweep/run_facts.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "assay/base/hash.h"
#include "assay/measure/ceilings.h"
#include "assay/measure/condition.h"
#include "assay/measure/environment.h"
#include "assay/sweep/protocol.h"

namespace assay::sweep {

Json asked_for(const Request& request, const Crew& crew) {
  Json problems = Json::array();
  for (const Problem& problem : request.problems) problems.push_back(problem.to_json());
  Json providers = Json::array();
  for (const Json& provider : crew.facts().providers)
    providers.push_back({{"name", provider.value("name", "")},
                         {"version", provider.value("version", "")},
                         {"path", provider.value("path", "")}});
  Json files = Json::object();
  for (const std::string& kernel : request.kernels) {
    const auto file = kernel.substr(0, kernel.find("::"));
    files[kernel] = sha256_of_file(file).value_or("absent");
  }
  const auto& condition = request.condition;
  return {{"kind", request.kind},
          {"suite", request.suite},
          {"problems", problems},
          {"providers", providers},
          {"kernels", files},
          {"filter", request.filter},
          {"condition", measure::to_json(condition.values)},
          {"condition_given", {condition.has_cache, condition.has_spacing, condition.has_launch}},
          {"class", measure::to_json(request.race_class)},
          {"threads", crew.facts().threads},
          {"margin", request.margin},
          {"exhaustive", request.exhaustive},
          {"confirm", request.confirm},
          {"device", crew.facts().fingerprint.value("id", "")}};
}

Environment describe(const Request& request, const Crew& crew) {
  Environment environment = measure::read_machine();
  const Json& fingerprint = crew.facts().fingerprint;
  environment.device = {fingerprint.value("kind", ""), fingerprint.value("name", ""),
                        fingerprint.value("id", ""), fingerprint.value("details", Json::object())};
  environment.threads = crew.facts().threads;
  environment.compiler = request.cxx;
  for (const Json& provider : crew.facts().providers) {
    if (!provider.value("available", false)) continue;
    LibraryStamp stamp{provider.value("name", ""), provider.value("version", ""),
                       provider.value("path", ""), ""};
    if (!stamp.path.empty()) stamp.build_hash = sha256_of_file(stamp.path).value_or("");
    environment.libraries.push_back(std::move(stamp));
  }
  return environment;
}

RunOptions options_of(const Request& request, const Crew& crew, double budget) {
  RunOptions options;
  options.margin = request.margin;
  options.processes = request.processes;
  options.most_processes = std::max(request.processes, request.most_processes);
  options.min_processes = std::max(2, request.processes - 1);
  options.placements = 1;
  options.systematic_error = request.device.empty() ? kCpuSystematicError : 0;
  options.budget_seconds = budget;
  options.exhaustive = request.exhaustive;
  options.threads = crew.facts().threads;
  options.suite = request.suite;
  options.model = request.model;
  options.tensor_parallel = request.tensor_parallel;
  options.filter = request.filter;
  for (const ProviderRequest& provider : request.providers)
    options.providers.push_back(provider.as.empty() ? provider.name : provider.as);
  return options;
}

Result<std::vector<Ceiling>> measure_ceilings(Crew& crew, const std::vector<Ceiling>& kept) {
  ASSAY_TRY(Child * worker, crew.builder());
  ASSAY_TRY(const Message answer,
            ask(*worker, {{"do", "ceilings"}}, 60, "measuring this machine's ceilings"));
  ASSAY_TRY(const Json* list, member(answer.json, "ceilings"));
  std::vector<Ceiling> ceilings;
  for (const Json& json : *list)
    ceilings.push_back({json.value("name", ""), number_or(json, "value", 0), json.value("unit", ""),
                        static_cast<int>(number_or(json, "threads", 1)), json.value("from", ""),
                        json.value("until", "")});
  return measure::larger_of(std::move(ceilings), kept);
}

}  // namespace assay::sweep
