#include <algorithm>
#include <future>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/base/hash.h"
#include "assay/base/version.h"
#include "assay/measure/environment.h"
#include "assay/measure/kept_ceilings.h"
#include "assay/process/confine.h"
#include "assay/record/conclude.h"
#include "assay/record/totals.h"
#include "assay/store/store.h"
#include "assay/sweep/run_facts.h"
#include "assay/sweep/run_problem.h"
#include "assay/sweep/stages/passes.h"
#include "assay/sweep/stages/quarantine.h"
#include "assay/sweep/stages/station.h"
#include "assay/sweep/trust.h"

namespace assay::sweep {
namespace {

struct Words {
  std::string winner, evidence_hash;
  std::vector<std::string> pairs;

  bool operator==(const Words&) const = default;
};

Words words_of(const Conclusion& conclusion) {
  Words words{conclusion.winner, conclusion.evidence_hash, conclusion.tied};
  const auto add = [&](const PairVerdict& pair) {
    words.pairs.push_back(
        fmt::format("{} {} {}", pair.candidate, pair.other, stats::to_string(pair.verdict.word)));
  };
  std::ranges::for_each(conclusion.against_leader, add);
  std::ranges::for_each(conclusion.against_stock, add);
  if (conclusion.headline) add(*conclusion.headline);
  return words;
}

// Of a problem that a journal has finished. A journal is no more than a file: its words are those
// of its samples, or nobody goes on with it.
Status check_words(const ProblemRecord& problem, const RunOptions& options) {
  for (const Confirmation& confirmation : problem.confirmations)
    if (words_of(conclude(problem, confirmation, options)) != words_of(confirmation.conclusion))
      return fail(
          ErrorCode::invalid_input,
          "the journal says of {} what its samples do not: it was changed since, or written "
          "by other rules; start anew by --fresh",
          problem.name);
  return {};
}

// Problems that are proven and raced one after the other, and confirmed side by side. Nothing else
// drives them: what a step says of a problem that comes next (ProblemRun::Next) is done here.
class Batch {
 public:
  // From the problem `first` on; seconds_each: of timing.
  Batch(const Request& request, Crew& crew, Journal& journal, Observer& observer, size_t first,
        double seconds_each)
      : request_(request),
        crew_(crew),
        journal_(journal),
        observer_(observer),
        first_(first),
        end_(first),
        seconds_each_(seconds_each) {}

  Status prepare(Quarantine& quarantine) {
    size_t open = 0;
    for (double bytes = 0; end_ < request_.question.problems.size() && has_room(open, bytes);
         ++end_) {
      const Problem& problem = request_.question.problems[end_];
      const auto condition = measure::condition_for(problem, request_.question.condition);
      observer_.on_problem(end_, problem, condition);
      auto& run = runs_.emplace_back();
      if (journal_.is_finished(problem.name())) continue;
      run = std::make_unique<ProblemRun>(
          Station{request_, crew_, journal_, observer_, problem, condition});
      ASSAY_TRY(run->prepare(quarantine));
      ASSAY_TRY(race(*run));
      // What brought a worker down here is not tried on the next one.
      for (const Candidate& candidate : run->field().candidates)
        quarantine.add(problem.name(), candidate.outcome);
      ++open;
      bytes += bytes_kept(problem);
    }
    return {};
  }

  // kept: the ceilings of the batch before.
  Status confirm(const std::vector<Ceiling>& kept) {
    // What is timed next is held against them.
    if (std::ranges::any_of(runs_, [](const auto& run) { return run && run->raced(); })) {
      ASSAY_TRY(ceilings_, measure_ceilings(crew_, request_, kept));
      observer_.on_ceilings(ceilings_);
    }
    Runs open;
    double left = 0;
    for (const auto& run : runs_) {
      if (!run || is_finished(run.get())) continue;
      open.push_back(run.get());
      left += std::max(0.0, seconds_each_ - run->timed_seconds());
    }
    // Of a GPU: how it was while claims were made, or where none are, since the races.
    if (open.empty()) return look_at_gpu();
    do {
      ASSAY_TRY(look_at_gpu());
      ASSAY_TRY(confirm_all(open, left / static_cast<double>(open.size())));
      ASSAY_TRY(look_at_gpu());
      if (gpu_)
        for (ProblemRun* run : open) ASSAY_TRY(run->race_at_own_clock(*gpu_));
      // Who fell there may have led.
      std::erase_if(open, is_finished);
    } while (!open.empty());
    return {};
  }

  Status finish(RunRecord& record, Quarantine& quarantine) {
    if (!ceilings_.empty()) record.environment.ceilings = ceilings_;
    for (size_t i = 0; i < runs_.size(); ++i) {
      auto& run = runs_[i];
      const bool from_journal = run == nullptr;
      const std::string name = request_.question.problems[first_ + i].name();
      if (run) {
        record.totals.timed_seconds += run->timed_seconds();
        spent_seconds_ += run->timed_seconds();
      } else {
        spent_seconds_ += seconds_each_;
      }
      ASSAY_TRY(ProblemRecord finished,
                run ? run->finish(ceilings_, gpu_) : journal_.problem(name));
      run.reset();
      if (from_journal)
        ASSAY_TRY(check_words(finished, record.options));
      else
        ASSAY_TRY(journal_.add_problem(finished));
      observer_.on_problem_done(first_ + i, finished, from_journal);
      count(record.totals, finished);
      for (const Finding& finding : finished.findings)
        record.findings.push_back({finding.code, fmt::format("{}: {}", name, finding.sentence)});
      for (const KernelOutcome& kernel : finished.kernels) quarantine.add(name, kernel);
      record.problems.push_back(headline_of(std::move(finished)));
    }
    return {};
  }

  size_t end() const { return end_; }
  double spent_seconds() const { return spent_seconds_; }

 private:
  using Runs = std::vector<ProblemRun*>;
  static bool is_finished(const ProblemRun* run) { return run->next() == ProblemRun::Next::finish; }

  Status race(ProblemRun& run) const {
    if (run.next() != ProblemRun::Next::race) return {};
    return run.race_field(race_seconds());
  }

  // Until each of them is to be finished: who leads or falls in a confirmation makes another one,
  // or another race.
  Status confirm_all(Runs open, double seconds_each) {
    for (;;) {
      for (ProblemRun* run : open) ASSAY_TRY(race(*run));
      std::erase_if(open, is_finished);
      if (open.empty()) return {};
      ASSAY_TRY(confirm_in_passes(open, crew_, observer_,
                                  seconds_each * static_cast<double>(open.size())));
    }
  }

  // Racing spends, confirming claims: where that follows, most of the time is for it.
  static constexpr double kRaceShare = 0.3;
  double race_seconds() const { return seconds_each_ * (request_.effort.confirm ? kRaceShare : 1); }

  // So many problems are seconds apart from one process to the next, and a resumed run has not lost
  // more than their confirmations.
  static constexpr size_t kMost = 16;
  static constexpr double kMemoryShare = 1.0 / 8;

  bool has_room(size_t open, double bytes) const {
    if (open == 0) return true;
    return request_.effort.confirm && open < kMost &&
           bytes < kMemoryShare * static_cast<double>(crew_.facts().memory_bytes);
  }

  // What has been since it was last looked at.
  Status look_at_gpu() {
    if (request_.venue.is_cpu()) return {};
    ASSAY_TRY(gpu_, take_gpu_window(crew_));
    return {};
  }

  // By the referee, between visits: operands as they are and widened, references likewise.
  static double bytes_kept(const Problem& problem) {
    constexpr double kCopies = 4;
    double bytes = 0;
    for (const Operand& operand : problem.operands())
      bytes += kCopies * static_cast<double>(operand.span_bytes);
    return bytes;
  }

  const Request& request_;
  Crew& crew_;
  Journal& journal_;
  Observer& observer_;
  size_t first_, end_;
  double seconds_each_;
  double spent_seconds_ = 0;
  std::vector<Ceiling> ceilings_;
  std::optional<GpuWindow> gpu_;
  std::vector<std::unique_ptr<ProblemRun>> runs_;  // Null: the journal has it finished.
};

// A store that cannot take the run is told of before the hours, not after them.
Status check_store(const Request& request) {
  if (request.keep.store.empty()) return {};
  return store::open_store(request.keep.store, store::Access::write).map([](const auto&) {});
}

Status keep_in_store(const Request& request, const std::string& record_path) {
  if (request.keep.store.empty()) return {};
  const auto keep = [&]() -> Status {
    ASSAY_TRY(const auto store, store::open_store(request.keep.store, store::Access::write));
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
  if (request.question.problems.empty())
    return fail(ErrorCode::invalid_input, "there is no problem to race");
  for (const Problem& problem : request.question.problems)
    ASSAY_TRY(measure::check_measurable(problem));
  ASSAY_TRY(check_store(request));
  hide_memory();
  std::optional<DeviceLock> lock;
  if (!request.caller.device_held) {
    const auto say = [&](std::string_view line) { observer.on_note(std::string(line)); };
    ASSAY_TRY(lock, hold_device(request, in_two_lines(say)));
  }
  Crew crew(request);
  ASSAY_TRY(crew.builder().map([](Child*) {}));
  request.venue.threads = crew.facts().threads;
  if (request.limits.memory_bytes == 0) request.limits.memory_bytes = crew.facts().memory_bytes / 2;
  ASSAY_TRY(Journal journal,
            Journal::open(request.keep.folder, asked_for(request, crew), request.keep.if_present));
  for (const std::string& note : journal.notes()) observer.on_note(note);
  TrustLog trust(journal);
  crew.on_confined([&](const process::Confinement& confinement) { return trust.add(confinement); });

  RunRecord record;
  record.kind = request.question.kind;
  record.created = journal.began().empty() ? utc_now_iso8601() : journal.began();
  const std::string run =
      journal.run().empty() ? sha256_hex(record.created + request.keep.folder.string()).substr(0, 8)
                            : journal.run();
  record.id = fmt::format("{}-{}", request.keep.folder.filename().string(), run);
  record.command_line = request.caller.command_line;
  const BuildInfo& build = build_info();
  record.assay_version = build.version;
  record.assay_build = fmt::format("{}, {}, {}", build.revision, build.compiler, build.build_type);
  record.environment = describe(request, crew);
  // A GPU's are of hundreds of megabytes, and nothing is timed on this machine's cores.
  auto libraries = std::async(std::launch::async, with_build_hashes, record.environment.libraries);
  if (request.venue.is_cpu()) record.environment.libraries = libraries.get();
  const double budget =
      request.effort.budget_seconds > 0
          ? request.effort.budget_seconds
          : kSecondsPerProblem * static_cast<double>(request.question.problems.size());
  record.options = options_of(request, crew, budget);
  for (const input::KernelSource& source : request.pool.kernels)
    record.sources.push_back({source.text(), input::hash_of_files(input::hashes_of_files(source))});
  observer.on_begin(record.environment, request.question.problems);
  observer.on_ceilings(
      measure::kept_ceilings(kept_ceilings_path(request, crew), request.venue.threads));

  Quarantine quarantine;
  double budget_left = budget;
  for (size_t next = 0; next < request.question.problems.size();) {
    Batch batch(request, crew, journal, observer, next,
                budget_left / static_cast<double>(request.question.problems.size() - next));
    if (Status prepared = batch.prepare(quarantine); !prepared) {
      if (prepared.error().code == ErrorCode::invalid_input) journal.withdraw();
      return fail(std::move(prepared).error());
    }
    ASSAY_TRY(batch.confirm(record.environment.ceilings));
    ASSAY_TRY(batch.finish(record, quarantine));
    // What these problems did not need, the others may have.
    budget_left = std::max(0.0, budget_left - batch.spent_seconds());
    next = batch.end();
  }
  record.model = model_times(record);
  record.trust = trust.weakest().grade;
  record.trust_reason = trust.weakest().reason;
  if (libraries.valid()) record.environment.libraries = libraries.get();
  record.environment.load_after = measure::other_load();
  record.totals.wall_seconds = static_cast<double>(monotonic_ns() - start) * 1e-9;
  const EachProblem whole_problems = [&](const auto& take) -> Status {
    for (const Problem& problem : request.question.problems) {
      ASSAY_TRY(ProblemRecord whole, journal.problem(problem.name()));
      whole.evidence_hash = hash_of_evidence(record, whole);
      ASSAY_TRY(take(whole));
    }
    return {};
  };
  const std::string path = (request.keep.folder / "record.json").string();
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
