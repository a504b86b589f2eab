#include <optional>
#include <poll.h>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/fd.h"
#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/load/load_record.h"
#include "assay/load/samples.h"
#include "assay/measure/environment.h"
#include "cli/exit_code.h"
#include "cli/flags/quantities.h"
#include "cli/load/load_commands.h"
#include "cli/load/load_flags.h"
#include "cli/load/load_page.h"
#include "cli/load/load_table.h"
#include "cli/load/result_flags.h"
#include "cli/load/run_plan.h"
#include "cli/load/started_server.h"

namespace assay::cli {
namespace {

class LoadCommand : public Command {
 public:
  LoadCommand() {
    for (const auto make : {make_load_show_command, make_load_race_command,
                            make_load_search_command, make_load_sweep_command})
      commands_.push_back(make());
  }

  const char* name() const override { return "load"; }
  const char* summary() const override {
    return "Put a server of OpenAI's interface under load, and time its answers";
  }
  const char* example() const override {
    return "assay load --base-url http://127.0.0.1:8000 --model mock --max-concurrency 8";
  }
  const char* description() const override {
    return "A closed loop keeps --max-concurrency requests under way. An open loop sends at "
           "--request-rate, whatever the server does, and reports latencies from the intended time "
           "as well. Latencies are of successful requests alone. The code is 1 if a requirement "
           "fails, if the load was not the load that was asked for (not_delivered), or if the "
           "client was the limit (client_limited).";
  }
  std::span<const std::unique_ptr<Command>> commands() const override { return commands_; }

  void declare(Flags& app) override {
    flags_.declare(app);
    app.set_group(FlagGroup::measuring);
    app.add_option("--require", required_, "What must hold: ttft_ms.p95<200; several times")
        .type_name("FIGURE<BOUND")
        .several_words(false);
    app.add_option("--goodput-share", goodput_share_, "The share of requests that must be good")
        .type_name("SHARE");
    app.add_option("--runs,--num-profile-runs", runs_, "Runs, each with a seed of its own")
        .range(1, 100)
        .show_default();
    app.add_option("--cool-down", cool_down_, "Between two runs")
        .type_name("SECONDS")
        .show_default();
    app.set_group(FlagGroup::more);
    app.add_option("--start", started_,
                   "A word of a program that serves at {port}, started and ended with the run; "
                   "one flag a word")
        .type_name("WORD")
        .several_words(false);
    app.set_group(FlagGroup::output);
    app.add_option("--output-dir,--result-dir", folder_,
                   "Where load.json, samples and inputs go (default: runs/<n>-load)")
        .type_name("DIR");
    result_.declare(app);
    app.add_option("--html", html_, "Gets the run as one self-contained page").type_name("FILE");
  }

  Result<int> run(Context& context) override {
    ASSAY_TRY(percentiles_, result_.percentiles());
    ASSAY_TRY(const std::vector<load::Requirement> requirements, read_requirements());
    ASSAY_TRY(const std::vector<load::Objective> objectives, flags_.objectives());
    ASSAY_TRY(result_.check());
    double cool_down = 0;
    if (cool_down_ != "0") {
      ASSAY_TRY(cool_down, parse_seconds(cool_down_, "--cool-down"));
    }
    ASSAY_TRY(std::string base_url, flags_.base_url());
    std::optional<StartedServer> server;
    if (!started_.empty()) {
      if (!base_url.empty())
        return fail(ErrorCode::invalid_input,
                    "--start says where the server is: leave --base-url out");
      ASSAY_TRY(server, StartedServer::start(started_));
      base_url = server->base_url();
    }
    load::LoadRecord record;
    record.created = utc_now_iso8601();
    ASSAY_TRY(record.metadata, result_.metadata());
    ASSAY_TRY(record.plan, flags_.plan(context, base_url, [&server] {
      return server ? server->may_get_ready() : Status();
    }));
    record.environment = measure::read_machine(false);
    ASSAY_TRY(const std::filesystem::path folder, load_folder(folder_));
    for (int number = 1; number <= runs_; ++number) {
      if (number > 1) {
        ASSAY_TRY(
            const bool cancelled,
            wait_for_fd(context.cancel_fd, POLLIN,
                        monotonic_ns() + static_cast<std::int64_t>(cool_down * kNsPerSecond)));
        if (cancelled) break;
      }
      ASSAY_TRY(one_run(context, number, folder, objectives, record));
      if (record.runs.back().interrupted) break;
    }
    record.environment.load_after = measure::other_load();
    const Json json = load::record_json(record);
    const std::string path = (folder / "load.json").string();
    ASSAY_TRY(write_file_atomic(path, dump_pretty(json)));
    ASSAY_TRY(result_.write(json, folder_));
    if (!html_.empty())
      ASSAY_TRY(write_file_atomic(html_, load_page(record, first_.traces, first_.begin_ns, path)));
    return show(context, record, json, requirements, folder);
  }

 private:
  Result<std::vector<load::Requirement>> read_requirements() const {
    std::vector<load::Requirement> requirements;
    for (const std::string& text : required_) {
      ASSAY_TRY(load::Requirement requirement, load::parse_requirement(text, percentiles_));
      requirements.push_back(std::move(requirement));
    }
    if (!goodput_share_.empty()) {
      ASSAY_TRY(const double share, parse_fraction(goodput_share_, "--goodput-share"));
      load::Requirement requirement{fmt::format("goodput_share>={}", share), "goodput_share", false,
                                    true, share};
      requirements.push_back(std::move(requirement));
    }
    return requirements;
  }

  Status one_run(Context& context, int number, const std::filesystem::path& folder,
                 const std::vector<load::Objective>& objectives, load::LoadRecord& record) {
    load::LoadPlan plan = record.plan;
    plan.seed += static_cast<std::uint64_t>(number - 1);
    if (runs_ > 1) plan.run_id += fmt::format("-{}", number);
    ASSAY_TRY(const auto dataset, flags_.dataset(context, plan, plan.seed));
    record.dataset = dataset->description();
    const std::string suffix = number == 1 ? "" : fmt::format("-{}", number);
    ASSAY_TRY(const load::TokenCount count, flags_.token_count());
    ASSAY_TRY(load::Run run,
              run_plan(context, plan, *dataset,
                       runs_ > 1 ? fmt::format("load, run {} of {}", number, runs_) : "load",
                       (folder / ("inputs" + suffix + ".jsonl")).string(), count));
    load::Judged judged = load::judge_run(plan, run, objectives, percentiles_);
    judged.client.governor = record.environment.governor;
    record.runs.push_back(std::move(judged));
    record.samples.push_back("samples" + suffix + ".jsonl.zst");
    ASSAY_TRY(
        load::write_samples((folder / record.samples.back()).string(), run.traces, run.begin_ns));
    if (number == 1 && !html_.empty()) first_ = std::move(run);
    return {};
  }

  // The figure of the only run, or its mean over runs; none where a run lacks it.
  static std::optional<double> figure(const load::LoadRecord& record, const std::string& name) {
    double sum = 0;
    for (const load::Judged& run : record.runs) {
      const auto value = run.metrics.find(name);
      if (!value) return std::nullopt;
      sum += *value;
    }
    return sum / static_cast<double>(record.runs.size());
  }

  Result<int> show(Context& context, const load::LoadRecord& record, const Json& json,
                   const std::vector<load::Requirement>& requirements,
                   const std::filesystem::path& folder) const {
    Console& console = context.console;
    const report::TextStyle style{console.width_out(), console.colour_out(),
                                  console.terminal_out()};
    int code = run_code(record.runs);
    std::string text;
    for (const load::Judged& run : record.runs) {
      if (!text.empty()) text += '\n';
      text += load_text(record.plan, run, style);
    }
    if (const auto intervals = load::runs_intervals(record.runs); !intervals.empty())
      text += '\n' + intervals_text(intervals, style);
    for (const load::Requirement& requirement : requirements) {
      const auto value = figure(record, requirement.metric);
      const bool holds = value && requirement.holds(*value);
      text += report::coloured(
          fmt::format("{}: {}{}\n", requirement.text, holds ? "holds" : "fails",
                      value ? fmt::format(" ({:.4g})", *value) : ": the run has no such figure"),
          holds ? report::Tone::good : report::Tone::bad, style);
      if (!holds && code == kDone) code = kRefuted;
    }
    if (console.json()) {
      console.result(dump_pretty(json));
      for (const load::Judged& run : record.runs)
        for (const std::string& sentence : load_warnings(run)) console.note(sentence);
    } else {
      console.result(text);
    }
    console.note(fmt::format("kept in {}", folder.string()));
    return code;
  }

  static std::string intervals_text(const std::vector<load::RunsInterval>& intervals,
                                    const report::TextStyle& style) {
    report::Table table;
    table.columns = {{"over runs", report::Align::left},
                     {"mean", report::Align::right},
                     {"95 % interval", report::Align::right}};
    for (const load::RunsInterval& interval : intervals) {
      report::Table::Row row;
      row.cells = {{interval.figure},
                   {fmt::format("{:.4g}", interval.mean)},
                   {fmt::format("{:.4g} to {:.4g}", interval.low, interval.high)}};
      table.rows.push_back(std::move(row));
    }
    return report::text_table(table, style);
  }

  LoadFlags flags_;
  ResultFlags result_;
  load::Percentiles percentiles_;
  std::vector<std::unique_ptr<Command>> commands_;
  std::vector<std::string> required_, started_;
  std::string goodput_share_, cool_down_ = "1", folder_, html_;
  load::Run first_;  // For its page.
  int runs_ = 1;
};

}  // namespace

std::unique_ptr<Command> make_load_command() { return std::make_unique<LoadCommand>(); }

}  // namespace assay::cli
