#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/counted.h"
#include "assay/base/json.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/lab/evaluate/evaluate.h"
#include "assay/lab/evaluate/program_runner.h"
#include "assay/report/width.h"
#include "cli/exit_code.h"
#include "cli/files/kernel_files.h"
#include "cli/lab/device_code_check.h"
#include "cli/lab/kernel_build_check.h"
#include "cli/lab/lab_commands.h"
#include "cli/lab/lab_webhook.h"

namespace assay::cli {
namespace {

constexpr double kBuildSeconds = 3600;
// What compilers print has lines and indents of its own.
std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool is_space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!is_space)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  return line;
}

constexpr int kTextColumn = 27;  // Behind the word and the name.

struct Finding {
  const char* word = "ok";  // "ok", "warn", "fail".
  std::string name, text;
};

class LabCheckCommand : public Command {
 public:
  const char* name() const override { return "check"; }
  const char* summary() const override {
    return "Can this case be evaluated here? One line a part";
  }
  const char* example() const override { return "assay lab check --build"; }
  const char* description() const override {
    return "Reads lab.yaml, case.yaml and the benchmarks, looks for the model and the hardware, "
           "for "
           "compilers and libraries, for the programs that the case starts, and for the tools that "
           "some commands need. The code is 1 when anything fails.";
  }

  void declare(Flags& app) override {
    case_.declare(app);
    app.add_flag(
        "--build", build_,
        "Also run the case's setup and build, in the workspace, and compile each kernel of "
        "its manifests");
    app.add_flag("--emit-ptx", emit_ptx_,
                 "Also compile code for a GPU to PTX and SASS in workspace/build");
  }

  Result<int> run(Context& context) override {
    ASSAY_TRY(const LabPlace place, case_.find());
    findings_ = {
        {"ok", "lab", place.lab.root.string()},
        {"ok", "case",
         place.target.name + ", " + counted(std::ssize(place.target.benchmarks), "benchmark")}};
    check_model(place);
    check_hardware(place, context);
    check_benchmarks(place, context);
    ASSAY_TRY(const auto tools, look_for_tools(context));
    add_all(tools);
    check_history(place, context);
    for (const auto& [program, why] :
         {std::pair<const char*, const char*>{"git",
                                              "`assay lab hillclimb` works in its worktrees"},
          {"diff", "`assay lab diff` shows patches"},
          {"rsvg-convert", "`assay lab plot` writes PNGs by it (librsvg2-bin)"},
          {"bwrap", "`assay lab hillclimb --confine` runs agents behind it (bubblewrap)"}})
      check_tool(context, program, why);
    check_webhook(place, context);
    if (build_) {
      ASSAY_TRY(run_build(place, context));
      ASSAY_TRY(const auto kernels, build_kernels(context, place));
      add_all(kernels);
    }
    if (emit_ptx_) {
      ASSAY_TRY(const auto emitted, emit_device_code(context, place));
      for (const EmittedCode& code : emitted) add(code.good ? "ok" : "fail", code.name, code.text);
    }
    return show(context.console);
  }

 private:
  void add(const char* word, std::string name, std::string text) {
    findings_.push_back({word, std::move(name), std::move(text)});
  }

  void add_all(const std::vector<BuiltKernel>& all) {
    for (const BuiltKernel& one : all) add(one.word, one.name, one.text);
  }

  void check_model(const LabPlace& place) {
    const auto folder = lab::model_folder(place.lab, place.target);
    const auto fingerprint = lab::model_fingerprint(folder);
    if (!fingerprint)
      add("fail", "model", fingerprint.error().message);
    else if (fingerprint->empty())
      add("warn", "model",
          fmt::format("{} is not there: put the snapshot there, or mend model.path in case.yaml",
                      sanitize(place.target.model_path, 200)));
    else
      add("ok", "model",
          fmt::format("{}, fingerprint {}", sanitize(place.target.model_path, 200),
                      fingerprint->substr(0, 12)));
  }

  void check_hardware(const LabPlace& place, const Context& context) {
    const std::string here = context.venue.name();
    const std::string& wanted = place.target.hardware_device;
    if (wanted.empty() || wanted == here)
      add("ok", "hardware", fmt::format("{}, on {}", place.target.hardware_name, here));
    else
      add(place.target.hardware_required ? "fail" : "warn", "hardware",
          fmt::format("the case is for {}, and this is {}: give --device", wanted, here));
  }

  void check_benchmarks(const LabPlace& place, const Context& context) {
    for (const lab::Benchmark& benchmark : place.target.benchmarks) {
      const std::string name = "benchmark " + benchmark.name;
      if (const auto* shell = std::get_if<lab::ShellJson>(&benchmark.kind)) {
        const std::string& program = shell->command[0];
        const std::string path = program.find('/') == std::string::npos
                                     ? find_along_path(program, context.settings.child_environment)
                                     : (place.target.folder / program).string();
        if (is_program(path))
          add("ok", name, program);
        else
          add("fail", name,
              fmt::format("'{}' is no program that can be run", sanitize(program, 200)));
      } else if (const auto* race = std::get_if<lab::SweepRace>(&benchmark.kind)) {
        const auto files =
            read_sources(std::vector<std::string>{(place.target.folder / race->manifest).string()});
        add(files ? "ok" : "fail", name, files ? race->manifest : files.error().message);
      } else {
        check_http(place, name, std::get<lab::OpenAiHttp>(benchmark.kind));
      }
    }
  }

  void check_http(const LabPlace& place, const std::string& name, const lab::OpenAiHttp& http) {
    if (!http.base_url.empty())
      add("ok", name, sanitize(http.base_url, 200));
    else if (place.target.server)
      add("ok", name, sanitize(join(place.target.server->command, " "), 200));
    else
      add("fail", name, "its target is the case's server, and case.yaml has none");
  }

  void check_history(const LabPlace& place, const Context& context) {
    const auto content = history_of(context, place);
    if (content)
      add("ok", "history", counted(std::ssize(content->attempts), "attempt"));
    else
      add("fail", "history", content.error().message);
  }

  static constexpr const char* kWebhook = "webhook";

  void check_webhook(const LabPlace& place, const Context& context) {
    const auto webhook = webhook_of(context, place);
    if (!place.target.notify.enabled)
      add("ok", kWebhook, "nobody is told: `notify: {enabled: true}` in lab.yaml changes that");
    else if (!webhook)
      add("fail", kWebhook, webhook.error().message);
    else if (!*webhook)
      add("warn", kWebhook, "notify is enabled, and ASSAY_WEBHOOK_URL is set nowhere");
    else if (outbox_of(context, place).is_dead(**webhook))
      add("fail", kWebhook, "it answered 404 and is not used again (`assay lab notify --status`)");
    else
      add("ok", kWebhook, notify::masked(context.settings.webhook_url));
  }

  void check_tool(const Context& context, const char* program, const char* why) {
    const bool found = !find_along_path(program, context.settings.child_environment).empty();
    add(found ? "ok" : "warn", program, found ? "is there" : fmt::format("is missing: {}", why));
  }

  Status run_build(const LabPlace& place, const Context& context) {
    if (place.target.setup.empty() && place.target.build.empty())
      add("ok", "build", "case.yaml names no setup and no build of its own");
    const lab::ProgramRunner runner({.environment = context.settings.child_environment,
                                     .logs = place.target.folder / "workspace" / "build" / "logs",
                                     .cancel_fd = context.cancel_fd});
    for (const auto& [name, command] :
         {std::pair<const char*, const lab::Command*>{"setup", &place.target.setup},
          {"build", &place.target.build}}) {
      if (command->empty()) continue;
      ASSAY_TRY(const lab::ProgramRun run,
                runner.run(name, *command, place.target.folder, {}, kBuildSeconds));
      add(run.failure ? "fail" : "ok", name,
          run.failure ? run.reason : format_duration(run.seconds));
    }
    return {};
  }

  Result<int> show(Console& console) const {
    const bool fails = std::ranges::any_of(
        findings_, [](const Finding& finding) { return std::string_view(finding.word) == "fail"; });
    if (console.json()) {
      Json list = Json::array();
      for (const Finding& finding : findings_)
        list.push_back({{"word", finding.word}, {"name", finding.name}, {"text", finding.text}});
      console.result(dump_pretty({{"schema", "assay.lab_check/1"}, {"findings", list}}));
    } else {
      std::string text;
      for (const Finding& finding : findings_)
        text +=
            report::wrap(fmt::format("{:<5} {:<20} {}", finding.word, sanitize(finding.name, 60),
                                     sanitize(on_one_line(finding.text), 400)),
                         console.width_out(), kTextColumn);
      console.result(text);
    }
    return fails ? kRefuted : kDone;
  }

  CaseFlag case_;
  bool build_ = false, emit_ptx_ = false;
  std::vector<Finding> findings_;
};

}  // namespace

std::unique_ptr<Command> make_lab_check_command() { return std::make_unique<LabCheckCommand>(); }

}  // namespace assay::cli
