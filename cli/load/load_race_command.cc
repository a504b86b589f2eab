#include <array>

#include <fmt/format.h>

#include "assay/base/counted.h"
#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/load/duel.h"
#include "cli/exit_code.h"
#include "cli/flags/quantities.h"
#include "cli/load/load_commands.h"
#include "cli/load/load_flags.h"
#include "cli/load/run_plan.h"

namespace assay::cli {
namespace {

class LoadRaceCommand : public Command {
 public:
  const char* name() const override { return "race"; }
  const char* summary() const override { return "Which of two servers is faster under this load"; }
  const char* example() const override {
    return "assay load race --base-url http://127.0.0.1:8000 --against http://127.0.0.1:8001";
  }
  const char* description() const override {
    return "Pairs of short runs in an order drawn at random, each pair with prompts of its own. "
           "The verdict is looked at after 8, 16 and 32 pairs, at 99 % in all, and ends the race "
           "once it is clear. A run that the client limited ends it with code 1. What was measured "
           "is "
           "kept, and told, when the race is interrupted.";
  }

  void declare(Flags& app) override {
    flags_.declare(app);
    app.set_group(FlagGroup::measuring);
    app.add_option("--against", against_, "The other server").type_name("URL");
    app.add_option("--metric", metric_, "The figure that decides")
        .type_name("FIGURE")
        .show_default();
    app.add_option("--margin", margin_, "The smallest difference that matters")
        .type_name("SHARE")
        .show_default();
    app.set_group(FlagGroup::output);
    app.add_option("--output", output_, "Gets the race as JSON").type_name("FILE");
  }

  Result<int> run(Context& context) override {
    if (against_.empty())
      return fail(ErrorCode::invalid_input, "load race: against which server? Give --against URL");
    ASSAY_TRY(const double margin, parse_fraction(margin_, "--margin"));
    if (margin <= 0 || margin >= 1)
      return fail(ErrorCode::invalid_input, "--margin must lie between 0 and 1");
    ASSAY_TRY(const std::string base_url, flags_.base_url());
    ASSAY_TRY(const load::LoadPlan candidate, flags_.plan(context, base_url));
    ASSAY_TRY(const load::LoadPlan other, flags_.plan(context, against_));
    const auto measure = [&](bool is_candidate, std::uint64_t seed) -> Result<double> {
      const load::LoadPlan& plan = is_candidate ? candidate : other;
      ASSAY_TRY(const load::Judged judged,
                measure_plan(context, flags_, plan, seed,
                             fmt::format("race, pair {}", seed - candidate.seed)));
      note_run(judged);
      const auto value = judged.metrics.find(metric_);
      if (!value)
        return fail(ErrorCode::invalid_input, "--metric {}: a run has no such figure", metric_);
      return *value;
    };
    load::Duel duel;
    const auto on_pair = [&](const load::Duel& so_far) {
      duel = so_far;
      const load::DuelPair& pair = so_far.pairs.back();
      if (!context.console.live())
        context.console.progress(fmt::format("pair {}: {} {:.4g}, and {:.4g} of the other",
                                             so_far.pairs.size(), metric_, pair.candidate,
                                             pair.other));
    };
    const auto raced = load::run_duel(metric_, margin, candidate.seed, measure, on_pair);
    if (!raced && duel.pairs.empty()) return fail(raced.error());
    if (raced)
      duel = *raced;
    else
      duel.verdict.reason =
          fmt::format("the race ended after {}: {}", counted(std::ssize(duel.pairs), "pair"),
                      raced.error().message);
    Json json = load::duel_json(duel, metric_);
    json["candidate"] = load::plan_json(candidate);
    json["other"] = load::plan_json(other);
    json["limited_runs"] = limited_;
    json["whole"] = raced.has_value();
    if (!output_.empty()) ASSAY_TRY(write_file_atomic(output_, dump_pretty(json)));
    if (!raced && raced.error().code != ErrorCode::interrupted) return fail(raced.error());
    if (context.console.json())
      context.console.result(dump_pretty(json));
    else
      context.console.result(text(duel));
    if (limited_ > 0)
      context.console.note(
          fmt::format("{} of {} runs failed, were limited by the client, or were not the load that "
                      "was asked for: {}",
                      limited_, 2 * duel.pairs.size(), why()));
    if (!raced) return kInterrupted;
    return limited_ > 0 ? kRefuted : kDone;
  }

 private:
  // What speaks against a run, by kind: what the server did comes first.
  void note_run(const load::Judged& judged) {
    const load::Metrics& metrics = judged.metrics;
    bool any = false;
    const auto note = [&](std::string& kind, bool holds, const auto& sentence) {
      if (!holds) return;
      kind = sentence();
      any = true;
    };
    const std::int64_t failed = metrics.errored + metrics.incomplete;
    note(why_[0], failed > 0, [&] { return counted(failed, "request") + " failed"; });
    note(why_[1], metrics.mismatched > 0, [&] {
      return fmt::format("{} {} another number of tokens than was asked for",
                         counted(metrics.mismatched, "answer"),
                         metrics.mismatched == 1 ? "has" : "have");
    });
    note(why_[2], judged.client.limited, [&] { return judged.client.reasons.front(); });
    note(why_[3], !judged.delivered.as_asked, [&] { return judged.delivered.reasons.front(); });
    if (any) ++limited_;
  }

  std::string why() const {
    std::string all;
    for (const std::string& kind : why_)
      if (!kind.empty()) all += (all.empty() ? "" : "; ") + kind;
    return all;
  }

  std::string text(const load::Duel& duel) const {
    const stats::Verdict& verdict = duel.verdict;
    std::string line = fmt::format("{}: {}", metric_, to_string(verdict.word));
    if (verdict.has_interval())
      line += fmt::format("  {:.4f}x  [{:.4f}, {:.4f}]", verdict.ratio, verdict.low, verdict.high);
    line += fmt::format("  over {}\n", counted(std::ssize(duel.pairs), "pair"));
    if (!verdict.reason.empty()) line += verdict.reason + '\n';
    return line;
  }

  LoadFlags flags_;
  std::string against_, metric_ = "output_throughput_tok_s", margin_ = "1%", output_;
  std::array<std::string, 4> why_;  // Of each kind what was seen last.
  int limited_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_load_race_command() { return std::make_unique<LoadRaceCommand>(); }

}  // namespace assay::cli
