#include "assay/lab/evaluate/evaluate.h"

#include <algorithm>
#include <poll.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/base/fd.h"
#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/json.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/base/ulid.h"
#include "assay/base/version.h"
#include "assay/lab/evaluate/attempt_end.h"
#include "assay/lab/evaluate/attempt_plan.h"
#include "assay/lab/evaluate/confirm_stage.h"
#include "assay/lab/evaluate/env_defaults.h"
#include "assay/lab/evaluate/holdout_stage.h"
#include "assay/lab/evaluate/parity_stage.h"
#include "assay/lab/evaluate/profile_stage.h"
#include "assay/lab/evaluate/program_runner.h"
#include "assay/lab/evaluate/slots.h"
#include "assay/lab/files/history_index.h"

namespace assay::lab {
namespace {

namespace fs = std::filesystem;

constexpr double kCommandSeconds = 3600;  // Of setup, build, tests and parity, each.

std::string host_hash() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  constexpr size_t kDigits = 12;
  return sha256_hex(std::string_view(name)).substr(0, kDigits);
}

AttemptOutcome failed_outcome(std::string_view stage) {
  if (stage == "setup") return AttemptOutcome::setup_failed;
  if (stage == "build") return AttemptOutcome::build_failed;
  if (stage == "tests") return AttemptOutcome::tests_failed;
  return AttemptOutcome::crash;
}

class Evaluation {
 public:
  Evaluation(const Lab& lab, const Case& target, const EvaluateOptions& options,
             const EvaluateObserver& observer)
      : lab_(lab), target_(target), options_(options), observer_(observer) {}

  Result<Evaluated> run() {
    ASSAY_TRY(plan_, plan_of(target_, options_.lane));
    ASSAY_TRY(check_supported(target_, plan_));
    if (const Status status = check_variables(target_, plan_, options_.overrides); !status)
      return fail(with_context(status.error(), "--env"));
    const fs::path runs = target_.folder / "runs";
    ASSAY_TRY(History history, History::open(runs, index_file(options_.cache, target_.folder),
                                             history_wait(options_, observer_)));
    for (const std::string& note : history.notes()) observer_.on_note(note);
    ASSAY_TRY(end_interrupted(history, observer_));

    ASSAY_TRY(const Tree whole, read_tree(target_.folder));
    ASSAY_TRY(series_, series_of(lab_, target_, whole, options_.device));
    const TreeStore store(runs / "objects");
    ASSAY_TRY(store.put(target_.folder, whole));
    const fs::path source = options_.source.empty() ? target_.folder : options_.source;
    ASSAY_TRY(const Tree made, read_tree(source));
    const Tree workspace = workspace_part(made);
    ASSAY_TRY(store.put(source, workspace));
    fixed_ = fixed_part(target_, whole);
    rest_ = whole.only([](std::string_view path) { return !path.starts_with("workspace/"); });

    // Before what was measured once is looked for: what judges is no part of the workspace.
    const std::string bent = changed_judge(fixed_part(target_, made));
    // A copy: what is started below moves the others.
    std::optional<Attempt> incumbent;
    if (const Attempt* known = history.content().incumbent(series_.id)) incumbent = *known;
    if (const Attempt* same = find_same(history.content(), workspace.hash());
        same != nullptr && !options_.again && bent.empty()) {
      Evaluated evaluated;
      evaluated.duplicate_of = same->id;
      const Attempt known = *same;
      ASSAY_TRY(history.skip({options_.run_tag, fmt::format("duplicate_of {}", known.seq), known.id,
                              utc_now_iso8601(), cost(), !options_.agent}));
      evaluated.record_path = runs / known.record;
      ASSAY_TRY(evaluated.record, load_attempt_record(evaluated.record_path.string()));
      return evaluated;
    }
    ASSAY_TRY(begin(history, workspace.hash(), incumbent));
    ASSAY_TRY(history.start(attempt_));

    const Status worked =
        note_change(bent) ? Status() : work(store, workspace, incumbent, history.content());
    if (!worked && worked.error().code != ErrorCode::interrupted) {
      // The machine, or a file that is wrong: no outcome of the change, and said as such.
      conclude(record_, AttemptOutcome::interrupted, worked.error().message);
      ASSAY_TRY(finish(history));
      return fail(worked.error());
    }
    if (!worked) conclude(record_, AttemptOutcome::interrupted, worked.error().message);
    ASSAY_TRY(finish(history));
    const bool spoiled = worked && record_.outcome == AttemptOutcome::interrupted;
    return Evaluated{record_, record_path_, spoiled, ""};
  }

  Result<Replayed> replay(const Attempt& again) {
    ASSAY_TRY(plan_, plan_of(target_, again.lane));
    ASSAY_TRY(check_supported(target_, plan_));
    const fs::path runs = target_.folder / "runs";
    ASSAY_TRY(const History history,
              History::open(runs, index_file(options_.cache, target_.folder)));
    ASSAY_TRY(const Tree whole, read_tree(target_.folder));
    ASSAY_TRY(series_, series_of(lab_, target_, whole, options_.device));
    if (series_.id != again.series)
      return fail(ErrorCode::invalid_input,
                  "attempt {} is of another series: what judges it, the model or the device has "
                  "changed since",
                  again.seq);
    const Attempt* parent = history.content().find(again.parent);
    if (parent == nullptr)
      return fail(ErrorCode::invalid_input,
                  "attempt {} is a baseline, and has nothing to be "
                  "measured against",
                  again.seq);
    const Attempt against = *parent;
    ASSAY_TRY(measure_again(history, whole, again, against, again.description));
    const std::string_view word =
        replay_word(again.outcome.value_or(AttemptOutcome::interrupted), record_.outcome);
    return Replayed{record_, record_path_, std::string(word)};
  }

  Result<std::optional<HeldOut>> hold_out_best() {
    if (!target_.holdout) return std::nullopt;
    ASSAY_TRY(plan_, plan_of(target_, ""));
    ASSAY_TRY(check_supported(target_, plan_));
    ASSAY_TRY(const History history,
              History::open(target_.folder / "runs", index_file(options_.cache, target_.folder),
                            history_wait(options_, observer_)));
    ASSAY_TRY(const Tree whole, read_tree(target_.folder));
    ASSAY_TRY(series_, series_of(lab_, target_, whole, options_.device));
    const HistoryContent& content = history.content();
    const Attempt* best = content.incumbent(series_.id);
    const auto baseline = std::ranges::find_if(content.attempts, [&](const Attempt& attempt) {
      return attempt.series == series_.id && attempt.baseline &&
             attempt.outcome == AttemptOutcome::keep;
    });
    if (best == nullptr || best->baseline || baseline == content.attempts.end())
      return std::nullopt;
    holds_out_only_ = true;
    const std::string described = fmt::format("attempt {}, held out at the climb's end", best->seq);
    ASSAY_TRY(measure_again(history, whole, *best, *baseline, described));
    return HeldOut{record_, record_path_};
  }

 private:
  // What is measured again has a record of its own, and leaves the history as it is.
  Status measure_again(const History& history, const Tree& whole, const Attempt& again,
                       const Attempt& against, const std::string& description) {
    const fs::path runs = target_.folder / "runs";
    const TreeStore store(runs / "objects");
    ASSAY_TRY(store.put(target_.folder, whole));
    ASSAY_TRY(const Tree workspace, store.get(again.tree));
    fixed_ = fixed_part(target_, whole);
    rest_ = whole.only([](std::string_view path) { return !path.starts_with("workspace/"); });
    ASSAY_TRY(begin(history, again.tree, against));
    ASSAY_TRY(const std::string id, make_ulid());
    record_.description = description;
    record_path_ = runs / "replays" / fmt::format("{:04}-{}", again.seq, id) / "record.json";
    ASSAY_TRY(work(store, workspace, against, history.content()));
    record_.ended = utc_now_iso8601();
    record_.webhook_status = "not_expected";
    ASSAY_TRY(make_directories(record_path_.parent_path().string()));
    return write_record();
  }

  // Measured before. An attempt that bent its judges, or against a best state that failed (a full
  // disk), says nothing of its tree.
  const Attempt* find_same(const HistoryContent& content, const std::string& tree) const {
    for (auto one = content.attempts.rbegin(); one != content.attempts.rend(); ++one)
      if (one->tree == tree && one->series == series_.id && one->env == options_.overrides &&
          one->lane == options_.lane && one->outcome &&
          *one->outcome != AttemptOutcome::interrupted &&
          *one->outcome != AttemptOutcome::violation &&
          !one->reason.starts_with("the incumbent failed") && !one->record.empty())
        return &*one;
    return nullptr;
  }

  Status begin(const History& history, const std::string& tree,
               const std::optional<Attempt>& incumbent) {
    ASSAY_TRY(attempt_.id, make_ulid());
    attempt_.seq = history.content().next_seq();
    attempt_.run_tag = options_.run_tag;
    attempt_.series = series_.id;
    attempt_.parent = incumbent ? incumbent->id : "";
    attempt_.tree = tree;
    attempt_.env = options_.overrides;
    attempt_.env_only = !options_.overrides.empty();
    attempt_.lane = options_.lane;
    attempt_.family = options_.family;
    attempt_.target = options_.target;
    attempt_.description = options_.description;
    attempt_.hypothesis = options_.hypothesis;
    attempt_.started = utc_now_iso8601();
    attempt_.by_hand = !options_.agent;
    attempt_.record =
        fmt::format("{}/{:04}-{}/record.json", attempt_.run_tag, attempt_.seq, attempt_.id);
    record_path_ = target_.folder / "runs" / attempt_.record;

    record_.id = attempt_.id;
    record_.seq = attempt_.seq;
    record_.run_tag = attempt_.run_tag;
    record_.case_name = target_.name;
    record_.series = attempt_.series;
    record_.parent = attempt_.parent;
    record_.lane = attempt_.lane;
    record_.family = attempt_.family;
    record_.target = attempt_.target;
    record_.description = attempt_.description;
    record_.hypothesis = attempt_.hypothesis;
    record_.tree = tree;
    record_.incumbent_tree = incumbent ? incumbent->tree : tree;
    record_.env = attempt_.env;
    record_.env_only = attempt_.env_only;
    record_.baseline = !incumbent;
    record_.started = attempt_.started;
    record_.fixed_hash = series_.fixed_hash;
    record_.model_fingerprint = series_.model_fingerprint;
    record_.harness = fmt::format("{} {}", build_info().version, build_info().revision);
    record_.device = options_.device;
    record_.agent = options_.agent;
    attempt_.cost = cost();
    record_.host = host_hash();
    return {};
  }

  std::optional<Cost> cost() const {
    if (!options_.agent || !options_.says_cost) return std::nullopt;
    return Cost{options_.agent->usd, options_.agent->tokens};
  }

  StageContext stage() { return {target_, options_, observer_, plan_, record_}; }

  // Both trees in folders of their own; then stage by stage, until one fails.
  Status work(const TreeStore& store, const Tree& workspace,
              const std::optional<Attempt>& incumbent, const HistoryContent& content) {
    HeldDevice held;
    if (options_.hold_device) {
      ASSAY_TRY(held, options_.hold_device());
    }
    ASSAY_TRY(Slots slots, Slots::open(options_.cache, target_.folder));
    Tree theirs = workspace;
    if (incumbent) {
      ASSAY_TRY(theirs, store.get(incumbent->tree));
    }
    // The incumbent first: it is what the last attempt left built, if that was kept.
    ASSAY_TRY(const auto their_slot, slots.prepare(store, with_rest(theirs), plan_.environment));
    ASSAY_TRY(const auto our_slot, slots.prepare(store, with_rest(workspace), with_overrides()));
    const RunnerOptions running{.environment = environment(),
                                .supervisor = options_.supervisor,
                                .logs = record_path_.parent_path() / "logs",
                                .cancel_fd = options_.cancel_fd,
                                .input = {},
                                .lock_fd = held.descriptor,
                                .read_key = options_.read_key,
                                .disk_bytes = target_.disk_bytes,
                                .disk_looks = DiskLooks::free_alone};
    RunnerOptions watched = running;
    watched.disk_looks = DiskLooks::added_and_free;
    const ProgramRunner timed(running), runner(watched);
    ASSAY_TRY(Side candidate, side_of(our_slot.folder, true));
    ASSAY_TRY(Side other, side_of(their_slot.folder, false));
    // An incumbent whose build fails now is the machine's fault, or the setup's: nothing is kept.
    ASSAY_TRY(const bool theirs_built, build(runner, slots, their_slot, other, "incumbent"));
    if (!theirs_built) return {};
    ASSAY_TRY(const FolderStamp as_built, FolderStamp::of(other.folder));
    ASSAY_TRY(const bool built, build(runner, slots, our_slot, candidate, ""));
    if (!built) return {};
    if (holds_out_only_) {
      record_.rules = rules_of(stage());
      conclude(record_, AttemptOutcome::keep, "it holds on what was held out");
      return hold_out(stage(), running, candidate, other);
    }
    ASSAY_TRY(const bool tested, run_command_stage(runner, "tests", target_.tests, candidate, ""));
    if (!tested) return {};
    ASSAY_TRY(const bool untouched, check_other_side(as_built, other.folder));
    if (!untouched) return {};
    ASSAY_TRY(const bool same, check_parity(stage(), runner, candidate, other));
    if (!same) return {};
    ASSAY_TRY(const bool intact, check_judges({candidate.folder, other.folder}));
    if (!intact) return {};
    ASSAY_TRY(confirm(stage(), timed, slots, candidate, other, record_path_.parent_path()));
    if (record_.outcome == AttemptOutcome::interrupted) return {};  // No pair of a look counts.
    // Where the two stand now: they may have exchanged their folders an odd number of times.
    if (!record_.pairs.empty() && record_.pairs.back().swapped)
      std::swap(candidate.folder, other.folder);
    ASSAY_TRY(hold_out(stage(), running, candidate, other));
    ASSAY_TRY(profile(stage(), running, candidate, other, content));
    ASSAY_TRY(check_judges({candidate.folder, other.folder}));
    return {};
  }

  // Whether what gates or scores is still what it was, in both folders: builds and benchmarks run
  // beside it. What they add is no harm.
  Result<bool> check_judges(const std::vector<fs::path>& folders) {
    for (const fs::path& folder : folders) {
      ASSAY_TRY(const Tree now, read_tree(folder));
      if (note_change(changed_judge(fixed_part(target_, now)))) return false;
    }
    return true;
  }

  // The candidate's build and tests run with the rights to write there.
  Result<bool> check_other_side(const FolderStamp& as_built, const fs::path& folder) {
    ASSAY_TRY(const FolderStamp now, FolderStamp::of(folder));
    const std::string path = as_built.change_to(now);
    if (path.empty()) return true;
    conclude(record_, AttemptOutcome::violation,
             sanitize(path, 200) + " of the best state was changed while this one was built");
    return false;
  }

  // The first that is no longer what it was; empty: all are. What was added is no harm.
  std::string changed_judge(const Tree& now) const {
    for (const std::string& line : differences(fixed_, now))
      if (!line.starts_with('+')) return line.substr(2);
    return {};
  }

  // True: `path` is one, and the attempt ends by it.
  bool note_change(const std::string& path) {
    if (path.empty()) return false;
    conclude(record_, AttemptOutcome::violation,
             fmt::format("{} was changed: what judges an attempt is fixed", sanitize(path, 200)));
    return true;
  }

  Tree with_rest(const Tree& workspace) const {
    Tree tree = rest_;
    tree.files.insert(tree.files.end(), workspace.files.begin(), workspace.files.end());
    std::ranges::sort(tree.files, {}, &TreeFile::path);
    return tree;
  }

  std::vector<std::string> environment() const {
    std::vector<std::string> all = options_.environment;
    set_variable(all, "ASSAY_LAB", lab_.root.string());
    set_variable(all, "ASSAY_MODEL_PATH", model_folder(lab_, target_).string());
    return all;
  }

  Result<Side> side_of(const fs::path& folder, bool is_candidate) const {
    Side side{folder, {}};
    ASSAY_TRY(side.environment, read_env_defaults(folder));
    for (const auto& [name, value] : plan_.environment) side.environment[name] = value;
    if (is_candidate)
      for (const auto& [name, value] : options_.overrides) side.environment[name] = value;
    return side;
  }

  // What the candidate is given beyond what its tree says.
  Environment with_overrides() const {
    Environment all = options_.overrides;
    all.insert(plan_.environment.begin(), plan_.environment.end());
    return all;
  }

  // True: it did what it was for, or there is nothing to do.
  Result<bool> run_command_stage(const ProgramRunner& runner, const std::string& stage,
                                 const Command& command, const Side& side, const std::string& of) {
    const std::string name = of.empty() ? stage : stage + " (" + of + ')';
    if (command.empty()) {
      if (of.empty()) add_stage(record_, stage, "skipped", 0, "case.yaml names no command");
      return true;
    }
    observer_.on_stage(name);
    ASSAY_TRY(const ProgramRun run, runner.run(of.empty() ? stage : stage + '-' + of, command,
                                               side.folder, side.environment, kCommandSeconds));
    add_stage(record_, name, run.failure ? "failed" : "passed", run.seconds, run.reason);
    if (!run.failure) return true;
    conclude(
        record_,
        *run.failure == AttemptOutcome::timeout ? AttemptOutcome::timeout : failed_outcome(stage),
        of.empty() ? run.reason : "the incumbent failed: " + run.reason);
    return false;
  }

  Result<bool> build(const ProgramRunner& runner, Slots& slots, const Slots::Slot& slot,
                     const Side& side, const std::string& of) {
    if (slot.built) {
      if (of.empty()) add_stage(record_, "build", "skipped", 0, "built by an earlier attempt");
      return true;
    }
    ASSAY_TRY(const bool set_up, run_command_stage(runner, "setup", target_.setup, side, of));
    if (!set_up) return false;
    ASSAY_TRY(const bool built, run_command_stage(runner, "build", target_.build, side, of));
    if (!built) return false;
    ASSAY_TRY(slots.mark_built(slot));
    return true;
  }

  // The record is there before the end is, and says that telling was interrupted until it is done:
  // a kill at any moment leaves both true.
  Status finish(History& history) {
    record_.ended = utc_now_iso8601();
    take_end(attempt_, record_, target_.objective.metric);
    expect_webhook(record_, target_.notify, options_.no_webhook);
    ASSAY_TRY(make_directories(record_path_.parent_path().string()));
    ASSAY_TRY(write_record());
    ASSAY_TRY(history.end(attempt_));
    if (!tell_webhook(record_, options_.tell, history.content())) return {};
    return write_record();
  }

  Status write_record() const {
    return write_file_atomic(record_path_.string(), dump_pretty(to_json(record_)));
  }

  const Lab& lab_;
  const Case& target_;
  const EvaluateOptions& options_;
  const EvaluateObserver& observer_;
  AttemptPlan plan_;
  Series series_;
  Tree rest_, fixed_;
  Attempt attempt_;
  AttemptRecord record_;
  fs::path record_path_;
  bool holds_out_only_ = false;  // Nothing but what is held out is measured.
};

}  // namespace

std::optional<FileLock::Wait> history_wait(const EvaluateOptions& options,
                                           const EvaluateObserver& observer) {
  if (!options.waits) return std::nullopt;
  return FileLock::Wait{
      std::nullopt, [&options, &observer, told = false](std::string_view holder) mutable {
        if (!told) observer.on_note(fmt::format("waits: {}", holder));
        told = true;
        const auto stopped = wait_for_fd(options.cancel_fd, POLLIN, monotonic_ns());
        return options.cancel_fd < 0 || !stopped || !*stopped;
      }};
}

Status end_interrupted(History& history, const EvaluateObserver& observer) {
  std::vector<Attempt> open;
  for (const Attempt& attempt : history.content().attempts)
    if (!attempt.outcome) open.push_back(attempt);
  for (Attempt& attempt : open) {
    attempt.outcome = AttemptOutcome::interrupted;
    attempt.reason = "its process ended before it did";
    attempt.ended = utc_now_iso8601();
    ASSAY_TRY(history.end(attempt));
    observer.on_note(fmt::format("attempt {} was interrupted", attempt.seq));
  }
  return {};
}

Result<Evaluated> evaluate(const Lab& lab, const Case& target, const EvaluateOptions& options,
                           const EvaluateObserver& observer) {
  return Evaluation(lab, target, options, observer).run();
}

Result<Replayed> replay(const Lab& lab, const Case& target, const Attempt& attempt,
                        const EvaluateOptions& options, const EvaluateObserver& observer) {
  return Evaluation(lab, target, options, observer).replay(attempt);
}

Result<std::optional<HeldOut>> hold_out_best(const Lab& lab, const Case& target,
                                             const EvaluateOptions& options,
                                             const EvaluateObserver& observer) {
  return Evaluation(lab, target, options, observer).hold_out_best();
}

std::string_view replay_word(AttemptOutcome then, AttemptOutcome now) {
  if (then == now) return "held";
  const bool unclear = then == AttemptOutcome::near_tie || now == AttemptOutcome::near_tie ||
                       now == AttemptOutcome::interrupted;
  return unclear ? "unsure" : "refuted";
}

std::string default_run_tag(std::string_view utc_now) {
  std::string tag = "hillclimb_";
  for (const char c : utc_now.substr(0, 10))
    if (c != '-') tag += c;
  return tag;
}

}  // namespace assay::lab
