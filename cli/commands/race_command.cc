#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/choices.h"
#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/input/file_and_entry.h"
#include "assay/report/model_lines.h"
#include "assay/report/sweep_report.h"
#include "assay/report/words.h"
#include "cli/exit_code.h"
#include "cli/files/files_table.h"
#include "cli/files/kernel_files.h"
#include "cli/files/user_files.h"
#include "cli/flags/choose_device.h"
#include "cli/flags/problem_flags.h"
#include "cli/flags/race_options.h"
#include "cli/race/against.h"
#include "cli/race/compile_only.h"
#include "cli/race/race_gate.h"
#include "cli/race/watch.h"
#include "cli/show/race_text.h"
#include "cli/show/show_run.h"

namespace assay::cli {
namespace {

class RaceCommand : public Command {
 public:
  const char* name() const override { return "race"; }
  const char* summary() const override {
    return "Race your kernel against the stock pool: one verdict";
  }
  const char* example() const override {
    return "assay race my_gemm.cc --shape m=16,n=4096,k=1024,dtype=f32,layout=tt";
  }

  const char* description() const override {
    return "Each file is compiled or loaded, and proven right on every kind of input before it is "
           "timed. It then runs against every stock kernel that takes the shape. The verdict is "
           "against the stock kernel over which its advantage is least certain, with the interval "
           "of the ratio over fresh processes. A file that cannot take a shape is refused with a "
           "reason; the exit code is then 1, even if others raced.";
  }

  void declare(Flags& app) override {
    files_.declare_words(app, "Your kernels: FILE or FILE::ENTRY").required();
    problems_.declare(app);
    files_.declare_kernels(app, "More of your kernels");
    app.add_option("--against", against_,
                   "One more opponent to judge against: a provider, or a file with a kernel")
        .type_name("PROVIDER|FILE");
    app.set_group(FlagGroup::measuring);
    app.add_flag("--watch", watch_,
                 "Race again whenever the file is saved, against the version before");
    app.set_group(FlagGroup::output);
    app.add_option("--output-dir", folder_, "Where the record goes (default: runs/<n>-<kernel>)")
        .type_name("DIR");
    app.set_group(FlagGroup::more);
    app.add_option(
           "--target", target_,
           "Only compile, for a GPU that need not be here: shows registers, spills, shared memory")
        .type_name("TARGET");
    gate_.declare(app);
    options_.declare(app);
    options_.ranking.declare(app);
  }

  Result<int> run(Context& context) override {
    ASSAY_TRY(files_.check("race"));
    const auto files = read_sources(files_.all());
    if (!context.device_named && target_.empty()) {
      ASSAY_TRY(context.venue.gpu, device_for(files, options_.pool.providers));
    }
    ASSAY_TRY(sweep::Request request, options_.make_request(context, "race"));
    if (problems_.empty())
      return fail(ErrorCode::invalid_input,
                  "race: which problem? Give --shape m=16,n=4096,k=4096, or --suite NAME");
    if (!files) return fail(files.error());
    ASSAY_TRY(problems_.complete(context.console, *files));
    ASSAY_TRY(problems_.fill(request, "", context.console));
    if (!target_.empty()) {
      // Those of the GPU that is not here, too.
      ASSAY_TRY(request.pool.providers, options_.pool.asked_providers(context));
      return compile_only(context, request, *files, target_);
    }
    ASSAY_TRY(gate_.read(context));
    if (watch_ && gate_.given())
      return fail(
          ErrorCode::invalid_input,
          "--watch goes on for ever, and a claim ends with the exit code; give one of them");
    bring_first(request, *files);
    ASSAY_TRY(choose_opponent(request));
    note_renamed(context.console, request.pool.kernels);
    if (watch_) {
      if (context.console.json())
        return fail(ErrorCode::invalid_input,
                    "--watch goes on for ever, --json is one answer; give one of them");
      if (files->size() != 1)
        return fail(ErrorCode::invalid_input, "--watch follows one file; {} were given",
                    files->size());
      if (!folder_.empty())
        return fail(ErrorCode::invalid_input,
                    "--watch makes a folder under runs/ for each race; leave --output-dir out");
      return watch_file(context, request, files->front().text());
    }
    return race(context, request);
  }

 private:
  // A provider alone in the pool, or one more file.
  Status choose_opponent(sweep::Request& request) {
    if (against_.empty()) return {};
    opponent_is_file_ = !is_provider(against_);
    if (opponent_is_file_) {
      std::error_code ignored;
      if (!std::filesystem::exists(input::split_entry(against_).file, ignored)) {
        std::vector<std::string> known;
        for (const auto& provider : built_in_providers()) known.push_back(provider->info().name);
        return fail(ErrorCode::invalid_input, "--against: '{}' is neither a file nor a provider{}",
                    sanitize(against_, 200),
                    did_you_mean(against_, known, "providers are: " + join(known, ", ")));
      }
      ASSAY_TRY(const auto opponent, read_sources({&against_, 1}));
      request.pool.kernels.insert(request.pool.kernels.end(), opponent.begin(), opponent.end());
      input::name_apart(request.pool.kernels);
      return {};
    }
    std::erase_if(request.pool.providers, [&](const process::AskedProvider& asked) {
      return asked.name != against_ && !is_told_of_files(asked);
    });
    if (std::ranges::find(request.pool.providers, against_, &process::AskedProvider::name) ==
        request.pool.providers.end())
      return fail(ErrorCode::invalid_input, "--against: {} does not take part; {}", against_,
                  options_.pool.providers.empty()
                      ? request.venue.is_cpu() ? "it has kernels for a GPU: give --device gpu"
                                               : "it has kernels for the CPU: leave --device out"
                      : "leave --provider out, or name it there too");
    return {};
  }

  Result<int> race(Context& context, sweep::Request& request) {
    const size_t own = files_.all().size();
    std::vector<UserFile> files = user_files(request.pool.kernels);
    std::vector<input::KernelSource> asked_of(request.pool.kernels.begin(),
                                              request.pool.kernels.begin() + std::ptrdiff_t(own));
    std::optional<UserFile> opponent;
    if (opponent_is_file_) {
      opponent = files.back();
      asked_of.push_back(request.pool.kernels.back());
    }
    files.resize(own);  // Plug-ins follow: they take part, and are not what it is about.
    for (const UserFile& file : files)
      request.question.subjects.insert(request.question.subjects.end(), file.families.begin(),
                                       file.families.end());

    request.keep.folder = folder_;
    ASSAY_TRY(const DeviceLock held, hold_device(context, request));
    // Refusals first: nothing is timed for a kernel that cannot take the problem.
    ASSAY_TRY(auto refused, find_refused_files(request, asked_of));
    std::vector<FileRefusals> opponents(refused.begin() + std::ptrdiff_t(own), refused.end());
    refused.resize(own);
    call_by_stem(refused);
    call_by_stem(opponents);
    const size_t asked = request.question.problems.size();
    std::erase_if(request.question.problems, [&](const Problem& problem) {
      return is_refused_by_all(refused, problem.name());
    });
    const Console& console = context.console;
    const report::TextStyle style{console.width_out(), console.colour_out(),
                                  console.terminal_out()};
    std::string refusal_lines = refused_text(refused, style);
    for (FileRefusals& file : opponents)
      std::erase_if(file.problems, [&](const auto& problem) {
        return std::ranges::find(request.question.problems, problem.first, &Problem::name) ==
               request.question.problems.end();
      });
    refusal_lines += refused_text(opponents, style);
    if (request.question.problems.empty()) {
      const RaceGate::Outcome gate = gate_.of_nothing(refusal_sentences(refused));
      Json answer = json(nullptr, refused, files, opponent, kNothingRan);
      if (gate_.given()) answer["gate"] = RaceGate::json(gate);
      context.console.result(context.console.json()
                                 ? dump_pretty(answer)
                                 : gate_.shown(gate, std::move(refusal_lines), style));
      return kNothingRan;
    }
    if (folder_.empty()) request.keep.folder = next_run_folder(stem_of(files_.words.front()));
    ASSAY_TRY(const FinishedRun run, run_request(context, request, Keep::everything));
    const bool any_refused = std::ranges::any_of(
        refused, [](const FileRefusals& file) { return !file.problems.empty(); });
    const int ended = all_refused(run.record, files)                 ? kNothingRan
                      : !any_refused && all_stood(run.record, files) ? kDone
                                                                     : kRefuted;
    const RaceGate::Outcome gate = gate_.hold(run.record);
    const int code = gate.exit_code(ended);
    if (context.console.json()) {
      Json answer = json(&run, refused, files, opponent, code);
      if (gate_.given()) answer["gate"] = RaceGate::json(gate);
      context.console.result(dump_pretty(answer));
      return code;
    }
    report::RaceReportOptions shown{.style = style,
                                    .named = request.question.problems.size() < asked};
    for (const ProblemRecord& problem : run.record.problems)
      if (const auto against = opponent_verdict(problem, run.record.options, files, opponent))
        shown.against[problem.name] = {against->other.empty() ? against_ : against->other,
                                       against->verdict};
    std::string text = report::model_text(run.record, style) + report::race_text(run.record, shown);
    for (const ProblemRecord& problem : run.record.problems) {
      text += evidence_text(problem, style);
      text += files_table(problem, files, style);
    }
    text += refusal_lines + line_text({"record", run.files.record}, style);
    context.console.result(gate_.shown(gate, std::move(text), style));
    return code;
  }

  std::optional<Against> opponent_verdict(const ProblemRecord& problem, const RunOptions& options,
                                          const std::vector<UserFile>& files,
                                          const std::optional<UserFile>& opponent) const {
    if (against_.empty()) return std::nullopt;
    const auto mine = [&](const KernelOutcome& kernel) {
      return std::any_of(files.begin(), files.end(),
                         [&](const UserFile& file) { return is_of(kernel, file); });
    };
    return verdict_against(problem, options, mine, [&](const KernelOutcome& kernel) {
      return opponent ? is_of(kernel, *opponent) : kernel.provider == against_;
    });
  }

  static std::vector<std::string> refusal_sentences(const std::vector<FileRefusals>& files) {
    std::vector<std::string> sentences;
    for (const FileRefusals& file : files)
      for (const auto& [problem, why] : file.problems)
        sentences.push_back(
            fmt::format("{}: {} was refused: {}", problem, file.file, join(why, "; ")));
    return sentences;
  }

  // By problem; of several files, each sentence begins with its file.
  static Json refused_json(const std::vector<FileRefusals>& files) {
    Json out = Json::object();
    for (const FileRefusals& file : files)
      for (const auto& [problem, sentences] : file.problems) {
        Json& list = out.emplace(problem, Json::array()).first.value();
        for (const std::string& sentence : sentences)
          list.push_back(files.size() == 1 ? sentence : file.file + ": " + sentence);
      }
    return out;
  }

  Json json(const FinishedRun* run, const std::vector<FileRefusals>& refused,
            const std::vector<UserFile>& files, const std::optional<UserFile>& opponent,
            int code) const {
    Json out = run != nullptr ? summary_json(run->record, run->files, code)
                              : Json{{"schema", "assay.summary/1"},
                                     {"kind", "race"},
                                     {"problems", Json::array()},
                                     {"exit_code", code}};
    out["refused"] = refused_json(refused);
    out["against"] = Json::array();
    if (run == nullptr) return out;
    for (const ProblemRecord& problem : run->record.problems)
      if (const auto against = opponent_verdict(problem, run->record.options, files, opponent))
        out["against"].push_back({{"problem", problem.name},
                                  {"opponent", against_},
                                  {"other", against->other},
                                  {"verdict", assay::to_json(against->verdict)}});
    return out;
  }

  KernelFiles files_;
  ProblemFlags problems_;
  std::string folder_, against_, target_;
  bool watch_ = false, opponent_is_file_ = false;
  RaceOptions options_;
  RaceGate gate_;
};

}  // namespace

std::unique_ptr<Command> make_race_command() { return std::make_unique<RaceCommand>(); }

}  // namespace assay::cli
