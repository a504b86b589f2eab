#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/base/hash.h"
#include "assay/base/version.h"
#include "assay/measure/environment.h"
#include "assay/record/conclude.h"
#include "assay/store/store.h"
#include "assay/sweep/confine.h"
#include "assay/sweep/quarantine.h"
#include "assay/sweep/run_facts.h"
#include "assay/sweep/run_problem.h"
#include "assay/sweep/stages.h"
#include "assay/sweep/trust.h"

namespace assay::sweep {
namespace {

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

}  // namespace assay::sweep
