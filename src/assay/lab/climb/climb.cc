#include "assay/lab/climb/climb.h"

#include <algorithm>

#include "assay/base/clock.h"
#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/lab/climb/brief.h"
#include "assay/lab/evaluate/program_runner.h"
#include "assay/lab/evaluate/slots.h"

namespace assay::lab {
namespace {

namespace fs = std::filesystem;

constexpr int kMostFailures = 3;  // Of the agent in a row.

class Climb {
 public:
  Climb(const Lab& lab, const Case& target, const ClimbOptions& options,
        const ClimbObserver& observer)
      : lab_(lab), target_(target), options_(options), observer_(observer) {}

  Result<Climbed> run() {
    began_ = monotonic_ns();
    ASSAY_TRY(make_baseline());
    for (;;) {
      ASSAY_TRY(const HistoryContent content, read_history(runs()));
      climbed_.end = reason_to_end(content);
      if (!climbed_.end.empty()) return climbed_;
      ASSAY_TRY(take_turn(content));
      ++climbed_.turns;
    }
  }

 private:
  fs::path runs() const { return target_.folder / "runs"; }

  Result<std::string> series() const {
    ASSAY_TRY(const Tree tree, read_tree(target_.folder));
    ASSAY_TRY(const Series series, series_of(lab_, target_, tree, options_.evaluate.device));
    return series.id;
  }

  // From the case's own workspace; there is one for each series.
  Status make_baseline() {
    ASSAY_TRY(series_, series());
    ASSAY_TRY(const HistoryContent content, read_history(runs()));
    if (content.incumbent(series_) != nullptr) return {};
    EvaluateOptions options = options_.evaluate;
    options.description = "baseline";
    ASSAY_TRY(const Evaluated evaluated, evaluate(lab_, target_, options, observer_.evaluate));
    observer_.on_attempt(evaluated);
    if (evaluated.record.outcome == AttemptOutcome::keep) return {};
    return fail(evaluated.record.outcome == AttemptOutcome::interrupted ? ErrorCode::interrupted
                                                                        : ErrorCode::failed,
                "the baseline ended as {}: {}", to_string(evaluated.record.outcome),
                evaluated.record.reason);
  }

  // Turns of the run tag: attempts, the baseline aside, and turns that made none.
  int turns_of(const HistoryContent& content) const {
    const std::string& tag = options_.evaluate.run_tag;
    const auto attempts = std::ranges::count_if(content.attempts, [&](const Attempt& attempt) {
      return attempt.run_tag == tag && !attempt.baseline;
    });
    return static_cast<int>(attempts + std::ranges::count(content.skips, tag, &Skip::run_tag));
  }

  double seconds_left() const {
    return *options_.seconds -
           static_cast<double>(monotonic_ns() - began_) / static_cast<double>(kNsPerSecond);
  }

  bool has_reached(const HistoryContent& content) const {
    const Attempt* best = content.incumbent(series_);
    if (!options_.until || best == nullptr || !best->primary) return false;
    return target_.objective.direction == Direction::minimize
               ? best->primary->value <= *options_.until
               : best->primary->value >= *options_.until;
  }

  std::string reason_to_end(const HistoryContent& content) const {
    if (options_.turns && turns_of(content) >= *options_.turns)
      return fmt::format("{} turns of {} were made", turns_of(content), options_.evaluate.run_tag);
    if (options_.seconds && seconds_left() <= 0) return "its time is over";
    if (has_reached(content)) return fmt::format("{:.6g} was reached", *options_.until);
    if (options_.patience && without_keep_ >= *options_.patience)
      return fmt::format("{} turns in a row kept nothing", without_keep_);
    if (failures_ >= kMostFailures)
      return fmt::format("the agent failed {} times in a row", failures_);
    return {};
  }

  Status take_turn(const HistoryContent& content) {
    ASSAY_TRY(const fs::path folder, make_worktree(content));
    ASSAY_TRY(const Tree before, read_tree(folder));
    const fs::path talk = folder.parent_path() / "talk";
    ASSAY_TRY(make_directories(talk.string()));
    std::error_code ignored;
    fs::remove(talk / "attempt.yaml", ignored);
    ASSAY_TRY(const auto failure, run_agent(content, folder, talk));
    if (failure) {
      ++failures_;
      ++without_keep_;
      return skip("agent_failed: " + *failure);
    }
    failures_ = 0;
    const auto note = read_attempt_note(talk / "attempt.yaml", target_);
    if (!note) {
      ++without_keep_;
      return skip("note_refused: " + note.error().message);
    }
    ASSAY_TRY(const Tree after, read_tree(folder));
    if (before.hash() == after.hash() && note->environment.empty()) {
      ++without_keep_;
      return skip("nothing_changed");
    }
    return measure(folder, *note);
  }

  // What was kept, in a folder of its own: what earlier turns changed is in the history's objects.
  Result<fs::path> make_worktree(const HistoryContent& content) {
    ASSAY_TRY(Slots slots, Slots::open(options_.evaluate.cache / "climb", target_.folder));
    ASSAY_TRY(const Tree whole, read_tree(target_.folder));
    const TreeStore store(runs() / "objects");
    ASSAY_TRY(store.put(target_.folder, whole));
    Tree tree = whole.only([](std::string_view path) { return !path.starts_with("workspace/"); });
    ASSAY_TRY(const Tree workspace, store.get(content.incumbent(series_)->tree));
    tree.files.insert(tree.files.end(), workspace.files.begin(), workspace.files.end());
    std::ranges::sort(tree.files, {}, &TreeFile::path);
    ASSAY_TRY(const auto slot, slots.prepare(store, tree));
    return slot.folder;
  }

  // Why it failed; none where it did not.
  Result<std::optional<std::string>> run_agent(const HistoryContent& content,
                                               const fs::path& folder, const fs::path& talk) {
    BriefFacts facts = brief_facts(target_, content, series_, options_.evaluate.run_tag);
    facts.of_turn = true;
    if (options_.turns) facts.turns_left = *options_.turns - turns_of(content);
    if (options_.seconds) facts.seconds_left = seconds_left();
    const std::string brief = brief_text(target_, content, facts);
    ASSAY_TRY(write_file_atomic((talk / "brief.md").string(), brief));
    RunnerOptions runner;
    runner.environment = options_.agent_environment;
    runner.supervisor = options_.evaluate.supervisor;
    runner.logs = talk;
    runner.cancel_fd = options_.evaluate.cancel_fd;
    runner.input = brief;
    const Environment environment = {{"ASSAY_BRIEF", (talk / "brief.md").string()},
                                     {"ASSAY_ATTEMPT", (talk / "attempt.yaml").string()},
                                     {"ASSAY_WORKSPACE", (folder / "workspace").string()}};
    double limit = options_.agent_seconds;
    if (options_.seconds) limit = std::clamp(seconds_left(), 1.0, limit);
    observer_.evaluate.on_stage("agent");
    ASSAY_TRY(const ProgramRun ran,
              ProgramRunner(runner).run("agent", options_.agent, folder, environment, limit));
    if (!ran.failure) return std::optional<std::string>();
    return std::optional(ran.reason);
  }

  Status measure(const fs::path& folder, const AttemptNote& note) {
    EvaluateOptions options = options_.evaluate;
    options.source = folder;
    options.description = note.description.empty() ? "no description" : note.description;
    options.hypothesis = note.hypothesis;
    options.family = note.family;
    options.target = note.target;
    options.lane = note.lane;
    options.overrides = note.environment;
    ASSAY_TRY(const Evaluated evaluated, evaluate(lab_, target_, options, observer_.evaluate));
    if (!evaluated.duplicate_of.empty()) {
      ++without_keep_;
      observer_.on_skip(fmt::format("the same as attempt {}", evaluated.record.seq));
      return {};
    }
    observer_.on_attempt(evaluated);
    const bool kept = evaluated.record.outcome == AttemptOutcome::keep;
    climbed_.kept += kept ? 1 : 0;
    without_keep_ = kept ? 0 : without_keep_ + 1;
    if (evaluated.record.outcome == AttemptOutcome::interrupted)
      return fail(ErrorCode::interrupted, "stopped; the same command goes on");
    return {};
  }

  Status skip(const std::string& reason) {
    observer_.on_skip(reason);
    ASSAY_TRY(History history, History::open(runs()));
    return history.skip({options_.evaluate.run_tag, reason, "", utc_now_iso8601()});
  }

  const Lab& lab_;
  const Case& target_;
  const ClimbOptions& options_;
  const ClimbObserver& observer_;
  int64_t began_ = 0;
  std::string series_;
  int failures_ = 0, without_keep_ = 0;
  Climbed climbed_;
};

// Of what an agent wrote as much as a line of the history holds.
Result<std::string> short_text(const input::YamlField& root, const char* key, size_t most) {
  ASSAY_TRY(const std::string text, text_or(root, key, ""));
  return sanitize(text, most);
}

Result<std::string> name_at(const input::YamlField& root, const char* key) {
  ASSAY_TRY(std::string text, text_or(root, key, ""));
  constexpr size_t kMost = 60;
  if (text.empty() || (matches_name_rule(text) && text.size() <= kMost)) return text;
  return fail(
      root.error(fmt::format("{}: letters, digits, _, . and - alone, {} at most", key, kMost)));
}

}  // namespace

Result<AttemptNote> read_attempt_note(const fs::path& path, const Case& target) {
  AttemptNote note;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return note;
  constexpr size_t kMostBytes = size_t{64} << 10, kDescription = 190, kHypothesis = 290;
  ASSAY_TRY(const auto root, input::read_yaml(path, {.bytes = kMostBytes}));
  ASSAY_TRY(
      only_keys(root, {"description", "hypothesis", "family", "target", "lane", "env", "cost"}));
  ASSAY_TRY(note.description, short_text(root, "description", kDescription));
  ASSAY_TRY(note.hypothesis, short_text(root, "hypothesis", kHypothesis));
  ASSAY_TRY(note.family, name_at(root, "family"));
  ASSAY_TRY(note.target, name_at(root, "target"));
  ASSAY_TRY(note.lane, name_at(root, "lane"));
  if (!note.lane.empty() && !target.lanes.contains(note.lane))
    return fail(root.error(fmt::format("lane: case.yaml has no '{}'", note.lane)));
  ASSAY_TRY(const auto environment, root.find("env"));
  if (!environment) return note;
  ASSAY_TRY(note.environment, as_environment(*environment));
  std::vector<std::string> words;
  for (const auto& [name, value] : note.environment) words.push_back(name + '=' + value);
  ASSAY_TRY(note.environment, parse_overrides(words, target.allowed_variables));
  return note;
}

Result<Climbed> climb(const Lab& lab, const Case& target, const ClimbOptions& options,
                      const ClimbObserver& observer) {
  return Climb(lab, target, options, observer).run();
}

}  // namespace assay::lab
