#include "cli/load/run_plan.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "assay/base/counted.h"
#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/ulid.h"
#include "assay/report/width.h"
#include "cli/exit_code.h"
#include "cli/show/show_run.h"

namespace assay::cli {
namespace {

constexpr double kLineSeconds = 10;  // Between lines where nothing is redrawn.

std::string live_line(const std::string& title, const load::Progress& progress) {
  std::string line = fmt::format("{}  {:.0f} s{}  ", title, std::max(0.0, progress.seconds),
                                 progress.warming_up ? "  warm-up" : "");
  if (progress.asked_rate > 0)
    line += fmt::format("{:.4g} of {:.4g} req/s  ", progress.sent_rate, progress.asked_rate);
  else
    line += fmt::format("{:.4g} req/s  ", progress.sent_rate);
  line += fmt::format("{} ended, {} running", progress.ended, progress.running);
  if (progress.waiting > 0) line += fmt::format(", {} waiting", progress.waiting);
  if (progress.ttft_ms > 0) line += fmt::format("  TTFT {:.1f} ms", progress.ttft_ms);
  if (progress.itl_ms > 0) line += fmt::format("  ITL {:.2f} ms", progress.itl_ms);
  if (progress.errored > 0) line += "  " + counted(progress.errored, "error");
  return line;
}

}  // namespace

Result<load::Run> run_plan(Context& context, const load::LoadPlan& plan,
                           const load::Dataset& dataset, const std::string& title,
                           const std::string& inputs, const load::TokenCount& count) {
  load::RunHooks hooks;
  hooks.count_tokens = count;
  hooks.cancel_fd = context.cancel_fd;
  Console& console = context.console;
  double next_line = kLineSeconds;
  if (console.live() && !console.quiet())
    hooks.on_progress = [&](const load::Progress& progress) {
      const int width = std::max(20, console.width_error() - 1);
      console.redraw(report::fit(live_line(title, progress), width) + '\n');
    };
  else if (!console.quiet())
    hooks.on_progress = [&](const load::Progress& progress) {
      if (progress.seconds < next_line) return;
      next_line = progress.seconds + kLineSeconds;
      console.progress(live_line(title, progress));
    };
  std::optional<AtomicFile> file;
  Status written;
  if (!inputs.empty()) {
    ASSAY_TRY(file, AtomicFile::create(inputs));
    hooks.on_input = [&](std::int64_t number, std::string_view body) {
      // A body is JSON already.
      if (written)
        written = file->write(fmt::format("{{\"number\":{},\"body\":{}}}\n", number, body));
    };
  }
  auto run = load::run_load(plan, dataset, hooks);
  console.finish_redraw();
  if (!run) return run;
  ASSAY_TRY(written);
  if (file) ASSAY_TRY(file->commit());
  return run;
}

Result<load::Judged> measure_plan(Context& context, const LoadFlags& flags, load::LoadPlan plan,
                                  std::uint64_t seed, const std::string& title) {
  plan.seed = seed;
  ASSAY_TRY(const std::string id, make_ulid());
  plan.run_id = id;
  ASSAY_TRY(const auto dataset, flags.dataset(context, plan, seed));
  ASSAY_TRY(const std::vector<load::Objective> objectives, flags.objectives());
  ASSAY_TRY(const load::TokenCount count, flags.token_count());
  ASSAY_TRY(const load::Run run, run_plan(context, plan, *dataset, title, "", count));
  load::Judged judged = load::judge_run(plan, run, objectives);
  if (judged.interrupted) return fail(ErrorCode::interrupted, "interrupted");
  if (judged.metrics.successful == 0)
    return fail(ErrorCode::unsupported, "{} answered no request: {}", plan.server.authority(),
                run.traces.empty() ? "none was sent" : run.traces.front().error);
  return judged;
}

int run_code(std::span<const load::Judged> runs) {
  int code = kDone;
  for (const load::Judged& run : runs) {
    if (run.interrupted) return kInterrupted;
    if (run.client.limited || !run.delivered.as_asked || run.metrics.successful == 0)
      code = kRefuted;
  }
  return code;
}

Result<std::filesystem::path> load_folder(const std::string& asked) {
  std::filesystem::path folder =
      asked.empty() ? next_run_folder("load") : std::filesystem::path(asked);
  ASSAY_TRY(make_directories(folder.string()));
  return folder;
}

}  // namespace assay::cli
