#include "assay/sweep/run_facts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/text.h"
#include "assay/device/device_facts.h"
#include "assay/kernel/metadata_identity.h"
#include "assay/measure/ceilings.h"
#include "assay/measure/condition.h"
#include "assay/measure/environment.h"
#include "assay/measure/gpu_floor.h"
#include "assay/measure/kept_ceilings.h"
#include "assay/process/messages.h"
#include "assay/record/bounds.h"
#include "assay/sweep/venue_rules.h"

namespace assay::sweep {
namespace {

// What decides which kernels there are: "cublaslt.space=all". Where a library or a compiler lies is
// recorded by what was found.
std::vector<std::string> settings_of(const Pool& pool) {
  std::vector<std::string> settings;
  for (const process::AskedProvider& provider : pool.providers)
    for (const auto& [name, value] : provider.settings) {
      const std::string setting = provider.name + '.' + name;
      if (std::ranges::find(pool.recorded, setting) != pool.recorded.end())
        settings.push_back(setting + '=' + value);
    }
  return settings;
}

}  // namespace

// The parts are taken apart by name here and in options_of(): a new field does not compile until
// somebody decides whether a journal that has another value of it may go on, and whether the record
// tells it.
Json asked_for(const Request& request, const Crew& crew) {
  const auto& [kind, problems, suite, model, tensor_parallel, subjects, condition, race_class] =
      request.question;
  const auto& [providers, recorded, kernels, apart, filter, only, ranker, build, rankers, cxx] =
      request.pool;
  const auto& [margin, budget, exhaustive, confirm, processes, most, events, ncu, no_ncu] =
      request.effort;
  Json problems_json = Json::array();
  for (const Problem& problem : problems) problems_json.push_back(problem.to_json());
  Json found = Json::array();
  for (const auto& provider : crew.facts().providers)
    found.push_back({{"name", provider.name},
                     {"version", provider.availability.version},
                     {"path", provider.availability.path}});
  Json files = Json::object();
  for (const input::KernelSource& source : kernels)
    files[source.text()] = source.file() == nullptr ? "absent" : source.file()->sha256;
  Json asked = {
      {"kind", kind},
      {"suite", suite},
      {"problems", problems_json},
      {"providers", found},
      {"kernels", files},
      {"filter", filter},
      {"condition", measure::to_json(condition.values)},
      {"condition_given", {condition.has_cache, condition.has_spacing, condition.has_launch}},
      {"class", measure::to_json(race_class)},
      {"threads", crew.facts().threads},
      {"margin", margin},
      {"exhaustive", exhaustive},
      {"confirm", confirm},
      {"ranker", ranker},
      {"device", crew.facts().fingerprint.id}};
  // Absent where there are none, as in journals from before there were any.
  if (const auto settings = settings_of(request.pool); !settings.empty())
    asked["settings"] = settings;
  // What a journal from before says of users' kernels, it says by other ids.
  if (!kernels.empty()) asked["id_version"] = kVersionOfCalls;
  if (!only.empty()) asked["only"] = to_json(only);
  if (build != kBuildAtMost) asked["build"] = build;
  return asked;
}

Environment describe(const Request& request, const Crew& crew) {
  Environment environment = measure::read_machine(request.venue.is_gpu());
  const Fingerprint& fingerprint = crew.facts().fingerprint;
  environment.device = {fingerprint.kind, fingerprint.name, fingerprint.id, fingerprint.details};
  if (environment.device.kind == "gpu") {
    const std::string package = environment.device.details.value("driver_package", "");
    environment.driver = fmt::format("{}CUDA {}", package.empty() ? "" : package + ", ",
                                     environment.device.details.value("driver", ""));
  }
  environment.threads = crew.facts().threads;
  environment.compiler = request.pool.cxx;
  for (const auto& provider : crew.facts().providers)
    if (provider.availability.available)
      environment.libraries.push_back(
          {provider.name, provider.availability.version, provider.availability.path, ""});
  return environment;
}

std::vector<LibraryStamp> with_build_hashes(std::vector<LibraryStamp> libraries) {
  for (LibraryStamp& stamp : libraries)
    if (!stamp.path.empty()) stamp.build_hash = sha256_of_file(stamp.path).value_or("");
  return libraries;
}

int most_processes(const Request& request) {
  const Effort& effort = request.effort;
  const int wanted =
      effort.most_processes > 0 ? effort.most_processes : rules_of(request.venue).most_processes;
  return std::max(effort.processes, wanted);
}

int most_extended(const Request& request) {
  const int most = most_processes(request);
  return most > request.effort.processes ? 2 * most : most;
}

RunOptions options_of(const Request& request, const Crew& crew, double budget) {
  const auto& [kind, problems, suite, model, tensor_parallel, subjects, condition, race_class] =
      request.question;
  const auto& [providers, recorded, kernels, apart, filter, only, ranker, build, rankers, cxx] =
      request.pool;
  const auto& [margin, asked_seconds, exhaustive, confirm, processes, most, events, ncu, no_ncu] =
      request.effort;
  const VenueRules& rules = rules_of(request.venue);
  RunOptions options;
  options.margin = margin;
  options.processes = processes;
  options.most_processes = most_extended(request);
  options.min_processes = std::max(2, processes - 1);
  options.placements = 1;
  options.systematic_error = rules.systematic_error;
  options.systematic_error_apart = rules.systematic_error_apart;
  options.rules = kRulesOfWinners;
  options.budget_seconds = budget;
  options.exhaustive = exhaustive;
  options.threads = crew.facts().threads;
  options.suite = suite;
  options.model = model;
  options.tensor_parallel = tensor_parallel;
  options.filter = filter;
  // A claim that is raced anew says by itself whom it is held against.
  for (const KernelChoice& choice : only)
    if (choice.providers.empty() && choice.families.empty())
      options.kernels.insert(options.kernels.end(), choice.ids.begin(), choice.ids.end());
  for (const process::AskedProvider& provider : providers)
    options.providers.push_back(provider.as.empty() ? provider.name : provider.as);
  options.settings = settings_of(request.pool);
  options.ranker = ranker;
  options.build = build;
  return options;
}

std::string kept_ceilings_path(const Request& request, const Crew& crew) {
  // A GPU's are kept by the process that measures them.
  if (request.venue.is_gpu()) return {};
  return measure::kept_ceilings_path(request.keep.cache, crew.facts().fingerprint.id);
}

Result<std::vector<Ceiling>> measure_ceilings(Crew& crew, const Request& request,
                                              const std::vector<Ceiling>& kept) {
  ASSAY_TRY(Child * worker, crew.builder());
  ASSAY_TRY(auto answer,
            ask(*worker, process::MeasureCeilings{}, 60, "measuring this machine's ceilings"));
  const double load = request.venue.is_cpu() ? measure::other_load() : 0;
  for (measure::Reading& reading : answer.readings) reading.ceiling.load = load;
  return measure::larger_of(
      measure::keep_ceilings(kept_ceilings_path(request, crew), answer.readings), kept);
}

Result<GpuWindow> take_gpu_window(Crew& crew) {
  ASSAY_TRY(Child * worker, crew.builder());
  ASSAY_TRY(auto answer, ask(*worker, process::ReadGpuWindow{}, 60, "asking how the GPU has been"));
  return std::move(answer.window);
}

std::vector<Finding> findings_of(const GpuWindow& window) {
  std::vector<Finding> findings;
  if (window.samples == 0)
    findings.push_back({"gpu_unwatched", fmt::format("nothing is known of the GPU's clocks and "
                                                     "power meanwhile: {}",
                                                     window.unwatched)});
  for (const auto& [reason, share] : window.throttled)
    findings.push_back(
        {"throttled",
         fmt::format("the GPU was held back in {} % of the samples: {}",
                     share < 0.01 ? "under 1" : fmt::format("{:.0f}", 100 * share), reason)});
  if (!window.strangers.empty()) {
    std::vector<std::string> pids;
    for (const GpuStranger& stranger : window.strangers)
      pids.push_back(fmt::to_string(stranger.pid));
    findings.push_back({"gpu_shared", fmt::format("{} of somebody else used the GPU meanwhile: "
                                                  "process {}",
                                                  pids.size() == 1 ? "a process" : "processes",
                                                  join(pids, ", "))});
  }
  return findings;
}

std::optional<Finding> crowded_out(const ProblemRecord& record) {
  const auto is_out = [](const KernelOutcome& kernel) {
    const auto* ending = std::get_if<ending::OutOfMemory>(&kernel.ending);
    return kernel.role == KernelRole::stock && kernel.proof && kernel.proof->right &&
           ending != nullptr && ending->stage == "bind";
  };
  const auto first = std::ranges::find_if(record.kernels, is_out);
  if (first == record.kernels.end()) return std::nullopt;
  const auto count = std::ranges::count_if(record.kernels, is_out);
  return Finding{
      "stock_crowded_out",
      fmt::format("{} that {} proven right found no memory beside the others of the race{}: the "
                  "best that raced need not be the best; race fewer (--filter, --setting)",
                  count == 1 ? first->label() : fmt::format("{} stock kernels", count),
                  count == 1 ? "was" : "were",
                  count == 1 ? std::string() : ", " + first->label() + " among them")};
}

double floor_seconds(const Crew& crew, const Problem& problem, const measure::Condition& condition,
                     double flops, double bytes) {
  const auto operands = problem.operands();
  const DType dtype = operands.empty() ? DType::f32 : operands.front().dtype;
  if (crew.facts().fingerprint.kind != "gpu")
    return measure::physics_floor_seconds(flops, bytes, dtype, crew.facts().threads);
  double cold_bytes = 0;
  for (const Operand& operand : operands)
    if (operand.access != Access::write && measure::is_cold(operand, condition))
      cold_bytes += static_cast<double>(operand.span_bytes);
  return measure::gpu_floor_seconds(flops, cold_bytes, dtype, facts_of(crew.facts().fingerprint),
                                    condition.spacing == measure::Spacing::chain);
}

}  // namespace assay::sweep
