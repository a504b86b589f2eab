#include "assay/lab/climb/climb.h"

#include <algorithm>
#include <set>

#include "assay/base/clock.h"
#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/base/ulid.h"
#include "assay/lab/climb/agent_pool.h"
#include "assay/lab/climb/attempt_note.h"
#include "assay/lab/climb/brief.h"
#include "assay/lab/climb/climb_end.h"
#include "assay/lab/climb/confined_agent.h"
#include "assay/lab/climb/keep_branch.h"
#include "assay/lab/climb/merge.h"
#include "assay/lab/evaluate/slots.h"
#include "assay/lab/files/history_index.h"
#include "assay/lab/files/remove_tree.h"

namespace assay::lab {
namespace {

namespace fs = std::filesystem;

// A history names no folder of the machine that it was made on.
std::string without_folder(std::string sentence, const fs::path& folder) {
  const std::string prefix = folder.string() + '/';
  for (size_t at = sentence.find(prefix); at != std::string::npos; at = sentence.find(prefix))
    sentence.erase(at, prefix.size());
  if (const size_t at = sentence.find(folder.string()); at != std::string::npos)
    sentence.replace(at, folder.string().size(), "its folder");
  return sentence;
}

class Climb {
 public:
  Climb(const Lab& lab, const Case& target, const ClimbOptions& options,
        const ClimbObserver& observer)
      : lab_(lab), target_(target), options_(options), observer_(observer) {}

  Result<Climbed> run() {
    began_ = monotonic_ns();
    ASSAY_TRY(const FileLock alone, climb_alone());
    if (options_.confine) ASSAY_TRY(check_confinement(options_.agent_environment));
    ASSAY_TRY(make_baseline());
    ASSAY_TRY(end_interrupted());
    ASSAY_TRY(commit());  // Also what a call that was killed had kept.
    ASSAY_TRY(pool_, AgentPool::create({.words = options_.agent,
                                        .environment = options_.agent_environment,
                                        .supervisor = options_.evaluate.supervisor,
                                        .disk_bytes = target_.disk_bytes}));
    for (;;) {
      ASSAY_TRY(const HistoryContent content, read_history(runs(), index()));
      state_.seconds = static_cast<double>(monotonic_ns() - began_) / kNsPerSecond;
      climbed_.end = reason_to_end(target_, options_, content, state_);
      if (!climbed_.end.empty()) break;
      ASSAY_TRY(start_agents(content));
      ASSAY_TRY(const AgentTurn turn, pool_->wait(options_.evaluate.cancel_fd));
      free_.insert(turn.agent);
      ASSAY_TRY(finish_turn(turn));
      ++climbed_.turns;
    }
    climbed_.gave_up =
        has_failed(state_) || (climbed_.turns > 0 && climbed_.failed == climbed_.turns);
    climbed_.spoiled = is_spoiled(state_);
    ASSAY_TRY(end_others());
    // Shapes that no attempt was measured on: an agent that learned from which of its changes held
    // cannot have learned these.
    ASSAY_TRY(climbed_.held_out,
              hold_out_best(lab_, target_, options_.evaluate, observer_.evaluate));
    return climbed_;
  }

 private:
  fs::path runs() const { return target_.folder / "runs"; }
  fs::path index() const { return index_file(options_.evaluate.cache, target_.folder); }
  TreeStore store() const { return TreeStore(runs() / "objects"); }
  fs::path cache_of(int agent) const {
    return options_.evaluate.cache / "climb" / std::to_string(agent);
  }

  // Two climbs would use the same copies. The lock lies where no repository of a lab looks.
  Result<FileLock> climb_alone() const {
    const fs::path folder = runs() / "logs";
    ASSAY_TRY(make_directories(folder.string()));
    auto lock = FileLock::try_lock((folder / ".climb").string());
    if (!lock && lock.error().code == ErrorCode::busy)
      return fail(ErrorCode::busy, "another climb of this case is at work: {}",
                  lock.error().message);
    return lock;
  }

  // A person may evaluate beside a climb, which is no reason to end it.
  Result<History> open_history() const {
    return History::open(runs(), index(), history_wait(options_.evaluate, observer_.evaluate));
  }

  Result<std::string> series() const {
    ASSAY_TRY(const Tree tree, read_tree(target_.folder));
    ASSAY_TRY(const Series series, series_of(lab_, target_, tree, options_.evaluate.device));
    return series.id;
  }

  // From the case's own workspace; there is one for each series.
  Status make_baseline() {
    for (int agent = 0; agent < options_.agents; ++agent) free_.insert(agent);
    ASSAY_TRY(state_.series, series());
    ASSAY_TRY(const HistoryContent content, read_history(runs(), index()));
    if (content.incumbent(state_.series) != nullptr) return {};
    EvaluateOptions options = options_.evaluate;
    options.description = "baseline";
    ASSAY_TRY(const Evaluated evaluated, evaluate(lab_, target_, options, observer_.evaluate));
    observer_.on_attempt(evaluated);
    if (evaluated.record.outcome == AttemptOutcome::keep) return {};
    if (evaluated.spoiled)
      return fail(ErrorCode::machine, "there is no baseline: {}", evaluated.record.reason);
    return fail(evaluated.record.outcome == AttemptOutcome::interrupted ? ErrorCode::interrupted
                                                                        : ErrorCode::failed,
                "the baseline ended as {}: {}", to_string(evaluated.record.outcome),
                evaluated.record.reason);
  }

  // What a climb that was killed left open: no turn may be left that would end it.
  Status end_interrupted() {
    ASSAY_TRY(const HistoryContent content, read_history(runs(), index()));
    if (std::ranges::all_of(content.attempts,
                            [](const Attempt& one) { return one.outcome.has_value(); }))
      return {};
    ASSAY_TRY(History history, open_history());
    return assay::lab::end_interrupted(history, observer_.evaluate);
  }

  // As many as may still be needed.
  Status start_agents(const HistoryContent& content) {
    const int made = turns_of(content, options_.evaluate.run_tag);
    while (!free_.empty()) {
      const int under_way = made + static_cast<int>(pool_->running());
      if (options_.turns && under_way >= *options_.turns) break;
      const int agent = *free_.begin();
      ASSAY_TRY(start_agent(agent, content));
      free_.erase(agent);
    }
    return {};
  }

  // There is one from the baseline on, unless somebody took it out of the history since.
  Result<const Attempt*> best_of(const HistoryContent& content) const {
    if (const Attempt* best = content.incumbent(state_.series)) return best;
    return fail(ErrorCode::machine,
                "runs/history.jsonl has lost what was kept: somebody changed it during the climb");
  }

  // What turns begin at: the best state, or what the climb is from until something was kept.
  const Attempt& start_of(const Attempt& best) const {
    if (!options_.from) return best;
    const bool moved = best.run_tag == options_.evaluate.run_tag && !best.baseline &&
                       best.seq > options_.from->seq;
    return moved ? best : *options_.from;
  }

  Status start_agent(int agent, const HistoryContent& content) {
    observer_.evaluate.on_stage("agent");
    ASSAY_TRY(const Attempt* best, best_of(content));
    const Attempt& start = start_of(*best);
    AgentTurn turn;
    turn.agent = agent;
    turn.incumbent = best->id;
    ASSAY_TRY(Slots slots, Slots::open(cache_of(agent), target_.folder));
    ASSAY_TRY(const auto slot, prepare(slots, start.tree));
    turn.folder = slot.folder;
    ASSAY_TRY(turn.before, read_tree(turn.folder));
    turn.talk = turn.folder.parent_path() / "talk";
    // Nothing of an earlier turn: what lies there may be a link to elsewhere.
    ASSAY_TRY(remove_tree(turn.talk));
    ASSAY_TRY(make_directories(turn.talk.string()));
    turn.logs = turn.folder.parent_path() / "logs";

    BriefFacts facts = brief_facts(target_, content, state_.series, options_.evaluate.run_tag);
    facts.of_turn = true;
    facts.start_seq = start.seq;
    if (options_.turns) facts.turns_left = *options_.turns - turns_of(content, facts.run_tag);
    if (options_.seconds) facts.seconds_left = *options_.seconds - state_.seconds;
    const Cost spent = content.cost_of(facts.run_tag);
    if (options_.usd) facts.usd_left = *options_.usd - spent.usd;
    if (options_.tokens) facts.tokens_left = *options_.tokens - spent.tokens;
    std::string brief = brief_text(target_, content, facts);
    ASSAY_TRY(write_file_atomic((turn.talk / "brief.md").string(), brief));
    Environment environment = {{"ASSAY_BRIEF", (turn.talk / "brief.md").string()},
                               {"ASSAY_ATTEMPT", (turn.talk / "attempt.yaml").string()},
                               {"ASSAY_WORKSPACE", (turn.folder / "workspace").string()},
                               {"ASSAY_AGENT", std::to_string(agent + 1)}};
    ASSAY_TRY(const Command words, words_of(turn, environment));
    double limit = options_.agent_seconds;
    if (facts.seconds_left) limit = std::clamp(*facts.seconds_left, 1.0, limit);
    pool_->start(std::move(turn), std::move(brief), limit, words, environment);
    return {};
  }

  Result<Command> words_of(const AgentTurn& turn, Environment& environment) const {
    if (!options_.confine) return options_.agent;
    const fs::path scratch = turn.talk / "tmp";
    ASSAY_TRY(make_directories(scratch.string()));
    environment["TMPDIR"] = scratch.string();
    std::error_code failed;
    const fs::path cache = fs::canonical(options_.evaluate.cache, failed);
    // The case with its runs, the originals of what judges and what is held out; and the copies
    // that are measured.
    AgentConfinement confinement{{target_.folder, cache}, {}, {turn.folder, turn.talk}};
    if (const fs::path model = model_folder(lab_, target_); fs::exists(model, failed))
      confinement.shown.push_back(model);
    return confined(options_.agent, confinement);
  }

  // The case as it is, with the workspace of `tree`.
  Result<Slots::Slot> prepare(Slots& slots, const std::string& tree_hash) const {
    ASSAY_TRY(const Tree whole, read_tree(target_.folder));
    ASSAY_TRY(store().put(target_.folder, whole));
    Tree tree = whole.only([](std::string_view path) { return !path.starts_with("workspace/"); });
    ASSAY_TRY(const Tree workspace, store().get(tree_hash));
    tree.files.insert(tree.files.end(), workspace.files.begin(), workspace.files.end());
    std::ranges::sort(tree.files, {}, &TreeFile::path);
    return slots.prepare(store(), tree);
  }

  Status finish_turn(const AgentTurn& turn) {
    if (!turn.ran) return fail(turn.ran.error());
    const auto note = read_attempt_note(turn.talk / "attempt.yaml", target_);
    const std::optional<Cost> cost = note ? note->cost : std::nullopt;
    if (turn.ran->filled_disk) ASSAY_TRY(make_room(turn));
    Tree after;
    std::string refused;
    bool is_there = !turn.ran->filled_disk;
    if (turn.ran->failure) {
      refused = "agent_failed: " + turn.ran->reason;
    } else if (!note) {
      refused = "note_refused: " + without_folder(note.error().message, turn.talk);
    } else if (auto read = read_tree(turn.folder)) {
      after = std::move(*read);
    } else {  // What it left is its own doing: a pipe, a file too large, no folder at all.
      refused = "agent_failed: " + without_folder(read.error().message, turn.folder);
      ASSAY_TRY(make_room(turn));
      is_there = false;
    }
    if (refused.empty() && std::ranges::any_of(after.files, [](const TreeFile& file) {
          return file.path == "workspace" && file.kind == "link";
        }))
      refused = "agent_failed: workspace is a link: it must be a folder, which attempts copy";
    state_.failures = refused.empty() ? 0 : state_.failures + 1;
    climbed_.failed += refused.empty() ? 0 : 1;
    if (!turn.ran->failure) state_.cost_unknown = state_.cost_unknown || !cost;
    if (!refused.empty()) return skip(refused + (is_there ? set_aside(turn) : ""), cost);
    if (turn.before.hash() == after.hash() && note->environment.empty())
      return skip("nothing_changed", cost);
    ASSAY_TRY(const HistoryContent content, read_history(runs(), index()));
    ASSAY_TRY(const Attempt* best, best_of(content));
    if (best->id == turn.incumbent) return measure(turn, turn.folder, *note);
    // Another agent's change was kept meanwhile: this one is measured on top of it.
    ASSAY_TRY(Slots slots, Slots::open(cache_of(turn.agent) / "merge", target_.folder));
    ASSAY_TRY(const auto slot, prepare(slots, best->tree));
    ASSAY_TRY(const std::string conflict, merge_change({turn.before, turn.folder, slot.folder},
                                                       store(), options_.evaluate.environment));
    if (!conflict.empty())
      return skip(fmt::format("conflict: {}, which attempt {} changed, too{}",
                              sanitize(conflict, 120), best->seq, set_aside(turn)),
                  cost);
    return measure(turn, slot.folder, *note);
  }

  // Whoever paid for a turn that made no attempt may want what it changed. Where that lies, for the
  // reason; empty where it changed nothing, or nothing that can be kept.
  std::string set_aside(const AgentTurn& turn) const {
    const auto id = make_ulid();
    if (!id) return {};
    const std::string name = fmt::format("{}/unmeasured/{}", options_.evaluate.run_tag, *id);
    const auto kept = copy_change({turn.before, turn.folder}, runs() / name);
    if (!kept) return "; its change cannot be kept: " + sanitize(kept.error().message, 200);
    return *kept ? fmt::format("; its change lies in runs/{}", name) : std::string();
  }

  // A branch that cannot be written is said once, and changes nothing of what was measured.
  Status commit() {
    if (!options_.branch || branch_failed_) return {};
    ASSAY_TRY(const HistoryContent content, read_history(runs(), index()));
    const auto branch =
        commit_keeps(target_, content, options_.evaluate.run_tag, options_.evaluate.environment);
    branch_failed_ = !branch;
    if (branch)
      climbed_.branch = branch->name;
    else
      observer_.evaluate.on_note("no commit of what was kept: " + branch.error().message);
    return {};
  }

  // What filled the disk goes at once, and not when the folder is used again.
  Status make_room(const AgentTurn& turn) const {
    ASSAY_TRY(Slots slots, Slots::open(cache_of(turn.agent), target_.folder));
    ASSAY_TRY(slots.discard(turn.folder));
    return remove_tree(turn.talk);
  }

  Status measure(const AgentTurn& turn, const fs::path& folder, const AttemptNote& note) {
    // An agent that is not confined can reach the case itself. By other judges this would be the
    // baseline of another series.
    ASSAY_TRY(const std::string now, series());
    if (now != state_.series) {
      const std::string what = "what judges was changed in the case itself during the climb";
      ASSAY_TRY(skip("stopped: " + what + set_aside(turn), note.cost));
      return fail(ErrorCode::machine, "{}: benchmarks or the model; put it back", what);
    }
    EvaluateOptions options = options_.evaluate;
    options.source = folder;
    options.description = note.description.empty() ? "no description" : note.description;
    options.hypothesis = note.hypothesis;
    options.family = note.family;
    options.target = note.target;
    options.lane = note.lane;
    options.overrides = note.environment;
    const Cost cost = note.cost.value_or(Cost());
    options.agent =
        AttemptAgent{sanitize(options_.agent[0], 200), turn.ran->seconds, cost.usd, cost.tokens};
    options.says_cost = note.cost.has_value();
    ASSAY_TRY(const Evaluated evaluated, evaluate(lab_, target_, options, observer_.evaluate));
    if (!evaluated.duplicate_of.empty()) {
      ++state_.without_keep;
      observer_.on_skip(fmt::format("the same as attempt {}", evaluated.record.seq));
      return {};
    }
    observer_.on_attempt(evaluated);
    const bool kept = evaluated.record.outcome == AttemptOutcome::keep;
    climbed_.kept += kept ? 1 : 0;
    if (kept) ASSAY_TRY(commit());
    state_.without_keep = kept ? 0 : state_.without_keep + 1;
    state_.spoiled = evaluated.spoiled ? state_.spoiled + 1 : 0;
    if (evaluated.record.outcome == AttemptOutcome::interrupted && !evaluated.spoiled)
      return fail(ErrorCode::interrupted, "stopped; the same command goes on");
    return {};
  }

  // Agents that are still at work when the climb has ended made no attempt.
  Status end_others() {
    pool_->stop();
    while (pool_->running() > 0) {
      ASSAY_TRY(const AgentTurn turn, pool_->wait(options_.evaluate.cancel_fd));
      const auto note = read_attempt_note(turn.talk / "attempt.yaml", target_);
      const std::string aside = turn.ran && !turn.ran->filled_disk ? set_aside(turn) : "";
      ASSAY_TRY(skip("stopped: " + climbed_.end + aside, note ? note->cost : std::nullopt));
      ++climbed_.turns;
    }
    return {};
  }

  Status skip(const std::string& reason, const std::optional<Cost>& cost) {
    ++state_.without_keep;
    observer_.on_skip(reason);
    ASSAY_TRY(History history, open_history());
    return history.skip({options_.evaluate.run_tag, reason, "", utc_now_iso8601(), cost});
  }

  const Lab& lab_;
  const Case& target_;
  const ClimbOptions& options_;
  const ClimbObserver& observer_;
  std::int64_t began_ = 0;
  ClimbState state_;
  Climbed climbed_;
  std::unique_ptr<AgentPool> pool_;
  bool branch_failed_ = false;
  std::set<int> free_;  // Agents that are not at work.
};

}  // namespace

Result<Climbed> climb(const Lab& lab, const Case& target, const ClimbOptions& options,
                      const ClimbObserver& observer) {
  return Climb(lab, target, options, observer).run();
}

}  // namespace assay::lab
