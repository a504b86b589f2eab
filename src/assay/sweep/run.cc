#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/base/hash.h"
#include "assay/base/version.h"
#include "assay/measure/ceilings.h"
#include "assay/measure/environment.h"
#include "assay/record/conclude.h"
#include "assay/store/store.h"
#include "assay/sweep/confine.h"
#include "assay/sweep/protocol.h"
#include "assay/sweep/stages.h"
#include "assay/sweep/trust.h"

namespace assay::sweep {
namespace {

// Each further race is without a kernel that fell in the one before: few do so on one problem.
constexpr int kMostRaces = 6;

// What was asked, for the journal's header: resuming with anything else is refused. Not what the
// race chose to do.
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

assay::Condition named(const measure::Condition& condition) {
  return {std::string(to_string(condition.cache)), std::string(to_string(condition.spacing)),
          std::string(to_string(condition.launch))};
}

RunOptions options_of(const Request& request, const Crew& crew, double budget) {
  RunOptions options;
  options.margin = request.margin;
  options.processes = request.processes;
  options.min_processes = std::max(2, request.processes - 1);
  options.placements = 1;
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

ProblemRecord begin_record(const Station& station) {
  ProblemRecord record;
  const Problem& problem = station.problem;
  record.name = problem.name();
  record.key = problem.key();
  record.operation = problem.operation();
  record.role = problem.role();
  record.weight = problem.weight();
  record.problem = problem.to_json();
  record.condition = named(station.condition);
  record.race_class = {std::string(to_string(station.request.race_class.preparation)),
                       std::string(to_string(station.request.race_class.dependent_launch))};
  if (const auto operation = find_operation(problem.operation())) {
    const Work work = (*operation)->work(problem);
    record.flops = work.flops;
    record.bytes = work.bytes();
  }
  return record;
}

double ceiling_of(const std::vector<Ceiling>& ceilings, std::string_view name) {
  for (const Ceiling& ceiling : ceilings)
    if (ceiling.name == name) return ceiling.value;
  return 0;
}

std::string flops_ceiling(const Problem& problem) {
  const Operand* a = problem.find_operand("a");
  return a == nullptr ? std::string() : fmt::format("flops_{}", to_string(a->dtype));
}

// Seconds that the machine's ceilings allow at best, and which of them is the nearer.
std::pair<double, std::string> roofline(const ProblemRecord& record, const Problem& problem,
                                        const std::vector<Ceiling>& ceilings, bool cold) {
  const double read = ceiling_of(ceilings, "read");
  std::string name = flops_ceiling(problem);
  double peak = ceiling_of(ceilings, name);
  if (peak <= 0) peak = ceiling_of(ceilings, name = "flops_f32");
  const double by_bytes = cold && read > 0 ? record.bytes / read : 0;
  const double by_flops = peak > 0 ? record.flops / peak : 0;
  return by_bytes >= by_flops ? std::pair(by_bytes, std::string("read"))
                              : std::pair(by_flops, name);
}

// A time below what physics allows is a violation, not a win.
void refuse_impossible(Field& field, double floor_seconds) {
  if (floor_seconds <= 0) return;
  for (Candidate& candidate : field.candidates) {
    if (!candidate.alive() || !candidate.outcome.race || candidate.outcome.race->median_us <= 0)
      continue;
    if (candidate.outcome.race->median_us * 1e-6 < floor_seconds)
      candidate.outcome.ending = ending::Violation{
          "below_physics", fmt::format("{:.2f} us a launch, where any core needs at least {:.2f} "
                                       "us to read the operands or do the arithmetic",
                                       candidate.outcome.race->median_us, floor_seconds * 1e6)};
  }
}

// Proofs that an earlier process finished are not repeated.
void take_over(Field& field, std::map<std::string, Journal::Proof> proofs) {
  for (Candidate& candidate : field.candidates) {
    const auto found = proofs.find(candidate.outcome.id);
    if (found == proofs.end()) continue;
    Journal::Proof& proof = found->second;
    // What was built then must be what is built now, or it was another kernel.
    if (candidate.built && proof.outcome.artifact_hash != candidate.outcome.artifact_hash) continue;
    // The same, but shared with others of its family.
    proof.outcome.metadata = candidate.outcome.metadata;
    if (candidate.built) proof.outcome.artifact_facts = candidate.outcome.artifact_facts;
    candidate.launch_ns = proof.launch_ns;
    candidate.outcome = std::move(proof.outcome);
    candidate.proven = candidate.alive();
  }
}

void count(Totals& totals, const ProblemRecord& record) {
  for (const KernelOutcome& kernel : record.kernels) {
    ++totals.trials;
    if (kernel.proof && kernel.proof->right) ++totals.proven;
    const std::string_view name = ending_name(kernel.ending);
    if (name == "mismatch" || name == "violation") ++totals.wrong;
    if (name == "crash" || name == "timeout" || name == "out_of_memory" || name == "device_lost")
      ++totals.crashed;
    if (name == "build_failure" || name == "not_reached") ++totals.left_out;
  }
  for (const auto& [reason, refusal] : record.refusals) totals.refused += refusal.count;
}

Result<std::vector<Ceiling>> measure_ceilings(Crew& crew) {
  ASSAY_TRY(Child * worker, crew.builder());
  ASSAY_TRY(const Message answer,
            ask(*worker, {{"do", "ceilings"}}, 60, "measuring this machine's ceilings"));
  ASSAY_TRY(const Json* list, member(answer.json, "ceilings"));
  std::vector<Ceiling> ceilings;
  for (const Json& json : *list)
    ceilings.push_back({json.value("name", ""), number_or(json, "value", 0), json.value("unit", ""),
                        static_cast<int>(number_or(json, "threads", 1)), json.value("from", ""),
                        json.value("until", "")});
  return ceilings;
}

// Why there is nothing to race for; empty where there is something.
std::string why_no_race(const Request& request, const Field& field) {
  if (request.kind != "race" || request.kernels.empty()) return {};
  std::string why = "the kernel that the race is about takes no part";
  for (const Candidate& candidate : field.candidates) {
    if (!is_raced_about(request, candidate)) continue;
    if (candidate.alive()) return {};
    why = fmt::format("{} {}", candidate.outcome.name, ending_sentence(candidate.outcome.ending));
  }
  return why;
}

// What brought a worker down on one problem is not tried on the next: a hang costs its limit each
// time.
class Quarantine {
 public:
  void add(const ProblemRecord& problem) {
    for (const KernelOutcome& kernel : problem.kernels) {
      const Ending& ending = kernel.ending;
      if (std::holds_alternative<ending::Crash>(ending) ||
          std::holds_alternative<ending::Timeout>(ending) ||
          std::holds_alternative<ending::OutOfMemory>(ending) ||
          std::holds_alternative<ending::DeviceLost>(ending))
        why_.try_emplace(
            {kernel.id, kernel.artifact_hash},
            fmt::format("in quarantine: on {} it {}", problem.name, ending_sentence(ending)));
    }
  }

  void keep_out(Field& field) const {
    for (Candidate& candidate : field.candidates) {
      const auto found = why_.find({candidate.outcome.id, candidate.outcome.artifact_hash});
      if (found != why_.end() && candidate.alive())
        candidate.outcome.ending = ending::NotReached{found->second};
    }
  }

 private:
  std::map<std::pair<std::string, std::string>, std::string> why_;  // By id and artifact.
};

std::ptrdiff_t count_alive(const Field& field) {
  return std::ranges::count_if(field.candidates, &Candidate::alive);
}

// What conclusions are drawn from: of the finalists, as they stand.
void show_finalists(ProblemRecord& record, const Field& field, const RaceResult& race) {
  record.kernels.clear();
  for (const Candidate& candidate : field.candidates)
    if (std::ranges::find(race.finalists, candidate.outcome.id) != race.finalists.end())
      record.kernels.push_back(candidate.outcome);
}

// The field's end.
void fill_kernels(ProblemRecord& record, Field field) {
  record.kernels.clear();
  record.kernels.reserve(field.candidates.size());
  for (Candidate& candidate : field.candidates)
    record.kernels.push_back(std::move(candidate.outcome));
  for (const auto& [reason, refusals] : field.refusals)
    record.refusals[std::string(to_string(reason))] = {refusals.count, refusals.example};
}

// A finalist shown to be faster than the leader leads one further confirmation with new seeds.
Status confirm_leaders(const Station& station, Field& field, RaceResult& race,
                       double budget_seconds, ProblemRecord& record, Totals& totals) {
  const RunOptions options = options_of(station.request, station.crew, budget_seconds);
  for (int attempt = 0; attempt < 2 && !race.finalists.empty(); ++attempt) {
    ASSAY_TRY(ConfirmResult confirmed, confirm(station, field, race, budget_seconds * 0.7));
    totals.timed_seconds += confirmed.timed_seconds;
    if (!confirmed.cold_doubt.empty()) race.cold_doubt = confirmed.cold_doubt;
    show_finalists(record, field, race);
    confirmed.confirmation.conclusion = conclude(record, confirmed.confirmation, options);
    record.confirmations.push_back(std::move(confirmed.confirmation));
    const auto& ahead = record.confirmations.back().conclusion.ahead;
    if (ahead.empty()) break;
    station.crew.dismiss_confirmers();
    race.leader = ahead.front();
    std::erase(race.finalists, race.leader);
    race.finalists.insert(race.finalists.begin(), race.leader);
  }
  return {};
}

// One shape through the house, one direction (api.md).
Result<ProblemRecord> run_problem(const Station& station, const Quarantine& quarantine,
                                  double budget_seconds, Totals& totals,
                                  std::vector<Ceiling>& window) {
  ProblemRecord record = begin_record(station);
  ASSAY_TRY(Field field, find_candidates(station));
  ASSAY_TRY(build(station, field));
  quarantine.keep_out(field);
  ASSAY_TRY(auto proofs, station.journal.proofs(station.problem.name()));
  take_over(field, std::move(proofs));
  ASSAY_TRY(prove(station, field));
  std::string why = std::exchange(field.unprovable, {});
  if (why.empty()) why = why_no_race(station.request, field);
  if (!why.empty()) {
    fill_kernels(record, std::move(field));
    record.no_winner = std::move(why);
    return record;
  }
  ASSAY_TRY(const auto ceilings, measure_ceilings(station.crew));
  window = ceilings;
  const bool cold = station.condition.cache != measure::Cache::warm;
  const auto [roof_seconds, roof_name] = roofline(record, station.problem, ceilings, cold);
  const Operand* first =
      station.problem.operands().empty() ? nullptr : &station.problem.operands().front();
  // Known for cores; a card's datasheet is not.
  const double floor_seconds =
      station.request.device.empty()
          ? measure::physics_floor_seconds(record.flops, record.bytes,
                                           first == nullptr ? DType::f32 : first->dtype,
                                           station.crew.facts().threads)
          : 0;
  RaceResult race;
  for (int attempt = 1; attempt <= kMostRaces; ++attempt) {
    const auto alive = count_alive(field);
    record.confirmations.clear();
    ASSAY_TRY(race, sweep::race(station, field, budget_seconds * 0.3));
    totals.timed_seconds += race.timed_seconds;
    record.race = race.record;
    refuse_impossible(field, floor_seconds);
    if (station.request.confirm && (count_alive(field) == alive || attempt == kMostRaces))
      ASSAY_TRY(confirm_leaders(station, field, race, budget_seconds, record, totals));
    // One that fell may have led, and honest kernels have been dropped for it: once more without
    // it.
    if (count_alive(field) == alive) break;
    station.crew.dismiss_confirmers();
  }
  if (station.request.count_events) {
    ASSAY_TRY(record.counts, count_events(station, field, race.finalists));
  }
  if (!race.cold_doubt.empty()) record.findings.push_back({"cache_unproven", race.cold_doubt});
  fill_kernels(record, std::move(field));
  if (record.confirmations.empty() || record.decisive()->conclusion.winner.empty())
    record.no_winner = race.finalists.empty()    ? "no kernel was proven right and timed"
                       : station.request.confirm ? "no finalist survived its confirmation"
                                                 : "";
  if (const KernelOutcome* winner = record.winner()) {
    const double us = record.decisive()->conclusion.median_us(winner->id);
    if (us > 0 && roof_seconds > 0) {
      record.ceiling_share = roof_seconds * 1e6 / us;
      record.ceiling = roof_name;
    }
  }
  return record;
}

}  // namespace

namespace {

// A store that cannot take the run is told of before the hours, not after them.
Status check_store(const Request& request) {
  if (request.store.empty()) return {};
  return store::open_store(request.store, store::Access::write).map([](const auto&) {});
}

Status keep_in_store(const Request& request, const std::string& record_path) {
  if (request.store.empty()) return {};
  const auto keep = [&]() -> Status {
    ASSAY_TRY(const auto store, store::open_store(request.store, store::Access::write));
    ASSAY_TRY(const RunRecord record, load_record(record_path));
    return store->put(record, record_path).map([](store::Put) {});
  };
  Status kept = keep();
  if (!kept)
    kept.error().message += fmt::format(
        "; the run itself is whole, and `assay history --add {}` puts it there", record_path);
  return kept;
}

Result<RunRecord> run_all(const Request& asked, Observer& observer) {
  const int64_t start = monotonic_ns();
  Request request = asked;
  if (request.problems.empty())
    return fail(ErrorCode::invalid_input, "there is no problem to race");
  ASSAY_TRY(check_store(request));
  hide_memory();
  std::optional<DeviceLock> lock;
  if (!request.device_held) {
    ASSAY_TRY(lock, hold_device(request,
                                [&](std::string_view who) { observer.on_note(std::string(who)); }));
  }
  Crew crew(request);
  ASSAY_TRY(crew.builder().map([](Child*) {}));
  request.threads = crew.facts().threads;
  if (request.memory_limit_bytes == 0) request.memory_limit_bytes = crew.facts().memory_bytes / 2;
  ASSAY_TRY(Journal journal,
            Journal::open(request.folder, asked_for(request, crew), request.if_present));
  for (const std::string& note : journal.notes()) observer.on_note(note);
  TrustLog trust(journal);
  crew.on_confined([&](const Confinement& confinement) { return trust.add(confinement); });

  RunRecord record;
  record.kind = request.kind;
  record.created = journal.began().empty() ? utc_now_iso8601() : journal.began();
  record.id = fmt::format("{}-{}", request.folder.filename().string(),
                          sha256_hex(record.created + request.folder.string()).substr(0, 8));
  record.command_line = request.command_line;
  const BuildInfo& build = build_info();
  record.assay_version = build.version;
  record.assay_build = fmt::format("{}, {}, {}", build.revision, build.compiler, build.build_type);
  record.environment = describe(request, crew);
  const double budget = request.budget_seconds > 0
                            ? request.budget_seconds
                            : kSecondsPerProblem * static_cast<double>(request.problems.size());
  record.options = options_of(request, crew, budget);
  observer.on_begin(record.environment, request.problems);

  Quarantine quarantine;
  double budget_left = budget;
  for (size_t i = 0; i < request.problems.size(); ++i) {
    const Problem& problem = request.problems[i];
    const Station station{request,  crew,    journal,
                          observer, problem, measure::condition_for(problem, request.condition)};
    observer.on_problem(i, problem, station.condition);
    const double share = budget_left / static_cast<double>(request.problems.size() - i);
    const bool was_finished = journal.is_finished(problem.name());
    const double timed_before = record.totals.timed_seconds;
    ASSAY_TRY(ProblemRecord finished, was_finished
                                          ? journal.problem(problem.name())
                                          : run_problem(station, quarantine, share, record.totals,
                                                        record.environment.ceilings));
    if (!was_finished) ASSAY_TRY(journal.add_problem(finished));
    observer.on_problem_done(i, finished, was_finished);
    count(record.totals, finished);
    for (const Finding& finding : finished.findings)
      record.findings.push_back(
          {finding.code, fmt::format("{}: {}", problem.name(), finding.sentence)});
    quarantine.add(finished);
    record.problems.push_back(headline_of(std::move(finished)));
    // What one problem did not need, the others may have.
    const double used = was_finished ? share : record.totals.timed_seconds - timed_before;
    budget_left = std::max(0.0, budget_left - std::min(share, used));
  }
  record.model = model_times(record);
  record.trust = trust.weakest().grade;
  record.trust_reason = trust.weakest().reason;
  record.environment.load_after = measure::other_load();
  record.totals.wall_seconds = static_cast<double>(monotonic_ns() - start) * 1e-9;
  const EachProblem whole_problems = [&](const auto& take) -> Status {
    for (const Problem& problem : request.problems) {
      ASSAY_TRY(const ProblemRecord whole, journal.problem(problem.name()));
      ASSAY_TRY(take(whole));
    }
    return {};
  };
  const std::string path = (request.folder / "record.json").string();
  ASSAY_TRY(write_record(path, record, whole_problems));
  ASSAY_TRY(keep_in_store(request, path));
  return record;
}

}  // namespace

Result<RunRecord> run(const Request& request, Observer& observer) {
  // Answers come from processes that run candidates: one that sends a field of another type makes
  // the JSON library throw.
  try {
    return run_all(request, observer);
  } catch (const Json::exception& error) {
    return fail(ErrorCode::machine, "a worker sent what no worker sends: {}", error.what());
  }
}

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
  report.environment = describe(request, crew);
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
