#include "cli/lab/lab_drawing.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include <fmt/format.h>

#include "assay/base/counted.h"
#include "assay/base/file.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/report/attempt_report.h"
#include "cli/lab/attempt_words.h"

namespace assay::cli {
namespace {

lab::Tree changed(const lab::Tree& tree, const lab::Tree& other) {
  lab::Tree part;
  for (const lab::TreeFile& file : tree.files)
    if (std::ranges::find(other.files, file) == other.files.end()) part.files.push_back(file);
  return part;
}

// Only of what differs, in a folder of its own.
Result<std::string> patch_between(const Context& context, const lab::TreeStore& store,
                                  const lab::Tree& before, const lab::Tree& now) {
  ASSAY_TRY(const TemporaryDirectory folder, TemporaryDirectory::create());
  const std::filesystem::path root = folder.path();
  for (const auto& [name, tree, other] : {std::tuple{"a", &before, &now}, {"b", &now, &before}}) {
    std::error_code ignored;
    std::filesystem::create_directories(root / name, ignored);
    ASSAY_TRY(store.write(changed(*tree, *other), root / name));
  }
  SubprocessOptions options;
  options.argv = {"diff", "-ruN", "a", "b"};
  options.env = context.settings.child_environment;
  options.working_directory = folder.path();
  CommandLimits limits;
  limits.max_output = std::size_t{64} << 20;
  ASSAY_TRY(const CommandOutput output, run_command(options, limits));
  constexpr int kDiffer = 1;
  if (!output.status.success() && output.status.code != kDiffer)
    return fail(ErrorCode::failed, "diff {}: {}", output.status.describe(),
                sanitize(output.err, 300));
  return output.out;
}

// What was spent for each change that was kept.
std::string cost_text(const lab::Cost& cost, int keeps) {
  if (cost.usd <= 0 && cost.tokens <= 0) return {};
  const std::string what = cost.usd > 0
                               ? fmt::format("{:.2f} dollars", cost.usd / std::max(1, keeps))
                               : fmt::format("{} tokens", cost.tokens / std::max(1, keeps));
  return what + (keeps > 0 ? " a keep" : ", nothing kept");
}

// They stand in the records alone, of which a drawing reads so many: the newest.
void add_guardrails(const LabPlace& place, const lab::HistoryContent& content,
                    report::AttemptPlot& plot) {
  if (place.target.guardrails.empty()) return;
  std::size_t records = 500;
  for (auto point = plot.points.rbegin(); point != plot.points.rend() && records > 0; ++point) {
    if (point->baseline || (point->outcome != AttemptOutcome::keep &&
                            point->outcome != AttemptOutcome::guardrail_failed))
      continue;
    const auto attempt =
        std::ranges::lower_bound(content.attempts, point->seq, {}, &lab::Attempt::seq);
    if (attempt == content.attempts.end() || attempt->seq != point->seq) continue;
    --records;
    const auto record = load_record_of(place, *attempt);
    if (!record) continue;
    for (const AttemptGuardrail& one : record->guardrails)
      point->guardrails.push_back({one.metric, one.low, one.tolerance, one.holds});
  }
}

}  // namespace

report::AttemptPlot plot_of(const LabPlace& place, const lab::HistoryContent& content,
                            const std::string& run_tag) {
  report::AttemptPlot plot;
  plot.title = place.target.name;
  plot.metric = place.target.objective.metric;
  plot.unit = place.target.objective.unit;
  plot.minimize = place.target.objective.direction == lab::Direction::minimize;
  // Numbers of another series are of another protocol, and not of this drawing.
  const std::string series = content.attempts.empty() ? "" : content.attempts.back().series;
  lab::Cost cost;
  int keeps = 0;
  for (const lab::Attempt& attempt : content.attempts) {
    if (attempt.series != series || !attempt.outcome ||
        (!run_tag.empty() && attempt.run_tag != run_tag))
      continue;
    report::AttemptPoint point;
    point.seq = attempt.seq;
    if (attempt.primary) point.value = attempt.primary->value;
    point.outcome = *attempt.outcome;
    point.baseline = attempt.baseline;
    point.moves_best = *attempt.outcome == AttemptOutcome::keep && !attempt.env_only;
    point.run_tag = attempt.run_tag;
    point.label = attempt.description;
    if (attempt.cost) {
      cost.usd += attempt.cost->usd;
      cost.tokens += attempt.cost->tokens;
    }
    keeps += *attempt.outcome == AttemptOutcome::keep && !attempt.baseline ? 1 : 0;
    plot.points.push_back(std::move(point));
  }
  for (const lab::Skip& skip : content.skips)
    if (skip.cost && (run_tag.empty() || skip.run_tag == run_tag)) {
      cost.usd += skip.cost->usd;
      cost.tokens += skip.cost->tokens;
    }
  plot.cost = cost_text(cost, keeps);
  add_guardrails(place, content, plot);
  if (const lab::Attempt* last = content.incumbent(series)) {
    if (const auto record = load_record_of(place, *last)) plot.noise = record->smallest_keepable;
  }
  return plot;
}

Result<std::string> patch_of(const Context& context, const lab::TreeStore& store,
                             const lab::HistoryContent& content, const lab::Attempt& attempt) {
  ASSAY_TRY(const lab::Tree now, store.get(attempt.tree));
  lab::Tree before;
  if (const lab::Attempt* parent = content.find(attempt.parent)) {
    ASSAY_TRY(before, store.get(parent->tree));
  }
  return patch_between(context, store, before, now);
}

Result<std::string> report_page(const Context& context, const LabPlace& place,
                                const lab::HistoryContent& content) {
  report::AttemptPage page;
  page.plot = plot_of(place, content);
  const std::string series = content.attempts.empty() ? "" : content.attempts.back().series;
  const lab::TreeStore store(place.runs() / "objects");
  for (const lab::Attempt& attempt : content.attempts) {
    if (attempt.series != series || !attempt.outcome) continue;
    report::AttemptEntry& entry = page.attempts.emplace_back();
    entry.seq = attempt.seq;
    entry.outcome = attempt.baseline ? "baseline" : to_string(*attempt.outcome);
    entry.tone = report::tone_of(*attempt.outcome);
    entry.family = attempt.family;
    entry.description = attempt.description;
    entry.hypothesis = attempt.hypothesis;
    entry.reason = attempt.reason;
    if (attempt.primary) entry.value = value_text(*attempt.primary);
    if (attempt.claim && !attempt.baseline) entry.claim = gain_text(*attempt.claim);
    if (attempt.parent.empty()) continue;
    // Of a tree that somebody removed there is no patch, and the page says the rest.
    if (auto patch = patch_of(context, store, content, attempt)) entry.patch = std::move(*patch);
  }
  if (const lab::Attempt* best = content.incumbent(series))
    page.standing.push_back(
        fmt::format("The best state is that of attempt {}{}.", best->seq,
                    best->primary ? ", with " + value_text(*best->primary) : std::string()));
  if (page.plot.noise > 0)
    page.standing.push_back(fmt::format("The smallest gain that could be kept is about {:.2g} %.",
                                        100 * page.plot.noise));
  const auto kept = std::ranges::count_if(page.plot.points, [](const report::AttemptPoint& point) {
    return point.outcome == AttemptOutcome::keep && !point.baseline;
  });
  page.standing.push_back(fmt::format("{}, of which {} {} kept.",
                                      counted(std::ssize(page.attempts), "attempt"), kept,
                                      kept == 1 ? "was" : "were"));
  return report::attempt_html(page);
}

std::string report_file(const LabPlace& place) { return (place.runs() / "report.html").string(); }

Status renew_report(const Context& context, const LabPlace& place) {
  std::error_code none;
  if (!std::filesystem::exists(report_file(place), none)) return {};
  ASSAY_TRY(const lab::HistoryContent content, history_of(context, place));
  ASSAY_TRY(const std::string page, report_page(context, place, content));
  return write_file_atomic(report_file(place), page);
}

}  // namespace assay::cli
