#include "assay/lab/climb/reablate.h"

#include <algorithm>

#include "assay/base/text.h"
#include "assay/lab/climb/merge.h"
#include "assay/lab/evaluate/slots.h"
#include "assay/lab/files/history_index.h"

namespace assay::lab {
namespace {

namespace fs = std::filesystem;

Result<std::string> series_now(const Lab& lab, const Case& target, const EvaluateOptions& options) {
  ASSAY_TRY(const Tree tree, read_tree(target.folder));
  ASSAY_TRY(const Series series, series_of(lab, target, tree, options.device));
  return series.id;
}

bool is_win_of(const Attempt& attempt, std::string_view series) {
  return attempt.series == series && attempt.outcome == AttemptOutcome::keep && !attempt.baseline &&
         !attempt.env_only;
}

// What the attempt without the win came to, from the win's side.
Reablated judge(const AttemptRecord& record, const Attempt& win) {
  Reablated result;
  result.measured_as = record.seq;
  result.reason = fmt::format("without attempt {}: {}", win.seq, record.reason);
  const bool has_interval = record.claim && record.claim->has_interval();
  if (record.outcome == AttemptOutcome::keep)
    result.word = "loses";
  else if (!is_decided(record.outcome))
    result.word = to_string(record.outcome);
  else
    result.word = has_interval && record.claim->high < 1 ? "still_wins" : "unsure";
  result.interrupted = record.outcome == AttemptOutcome::interrupted;
  return result;
}

}  // namespace

Result<std::vector<Attempt>> older_wins(const Lab& lab, const Case& target,
                                        const EvaluateOptions& options,
                                        const HistoryContent& content) {
  ASSAY_TRY(const std::string series, series_now(lab, target, options));
  std::vector<Attempt> wins;
  for (const Attempt& attempt : content.attempts)
    if (is_win_of(attempt, series)) wins.push_back(attempt);
  if (!wins.empty()) wins.pop_back();
  return wins;
}

Result<Reablated> reablate(const Lab& lab, const Case& target, const Attempt& win,
                           const EvaluateOptions& options, const EvaluateObserver& observer) {
  ASSAY_TRY(const std::string series, series_now(lab, target, options));
  if (!is_win_of(win, series))
    return fail(ErrorCode::invalid_input,
                "attempt {} is no kept change of this series: there is nothing to take out",
                win.seq);
  const fs::path runs = target.folder / "runs";
  ASSAY_TRY(const HistoryContent content,
            read_history(runs, index_file(options.cache, target.folder)));
  const Attempt* best = content.incumbent(series);
  const Attempt* parent = content.find(win.parent);
  if (parent == nullptr)
    return fail(ErrorCode::machine, "attempt {} has a parent that the history does not hold",
                win.seq);
  const TreeStore store(runs / "objects");
  ASSAY_TRY(const Tree whole, read_tree(target.folder));
  ASSAY_TRY(store.put(target.folder, whole));
  const Tree rest =
      whole.only([](std::string_view path) { return !path.starts_with("workspace/"); });
  const auto with_rest = [&](const Tree& workspace) {
    Tree tree = rest;
    tree.files.insert(tree.files.end(), workspace.files.begin(), workspace.files.end());
    std::ranges::sort(tree.files, {}, &TreeFile::path);
    return tree;
  };
  ASSAY_TRY(const Tree with, store.get(win.tree));
  ASSAY_TRY(const Tree before, store.get(parent->tree));
  ASSAY_TRY(const Tree now, store.get(best->tree));
  ASSAY_TRY(Slots slots, Slots::open(options.cache / "reablate", target.folder));
  ASSAY_TRY(const auto undone, slots.prepare(store, with_rest(before)));
  ASSAY_TRY(const auto without, slots.prepare(store, with_rest(now)));
  // The way back from the win to its parent, made on top of the best state.
  ASSAY_TRY(
      const std::string tangled,
      merge_change({with_rest(with), undone.folder, without.folder}, store, options.environment));
  if (!tangled.empty())
    return Reablated{"tangled", fmt::format("{} was changed again since", tangled), 0, false};
  EvaluateOptions attempt = options;
  attempt.source = without.folder;
  attempt.description =
      fmt::format("without attempt {}: {}", win.seq, sanitize(win.description, 120));
  attempt.hypothesis = "a kept win tested again";
  attempt.family = "reablate";
  ASSAY_TRY(const Evaluated evaluated, evaluate(lab, target, attempt, observer));
  return judge(evaluated.record, win);
}

}  // namespace assay::lab
