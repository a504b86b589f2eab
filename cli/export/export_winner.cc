#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/choices.h"
#include "assay/base/file.h"
#include "assay/base/shell_word.h"
#include "assay/base/text.h"
#include "assay/report/words.h"
#include "assay/sweep/export.h"
#include "cli/exit_code.h"
#include "cli/export/export_files.h"
#include "cli/export/export_mode.h"
#include "cli/files/find_record.h"
#include "cli/flags/recorded_shape.h"
#include "cli/replay/replay_request.h"
#include "cli/show/race_text.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

class ExportWinner : public ExportMode {
 public:
  const char* flag() const override { return "--winner"; }

  void declare(Flags& app) override {
    app.add_option(
           "--winner", shape_,
           "The kernel that won on this shape (as --shape of race takes it, or by its name in "
           "the record): its source, a C header, a caller")
        .type_name("SHAPE");
    app.add_option("--kernel", kernel_, "With --winner: another kernel, which this run confirmed")
        .type_name("PROVIDER/NAME");
    app.add_option("--run", run_,
                   "The folder of its run, or a record (default: the newest below runs and "
                   "artifacts that has the shape)")
        .type_name("RUN|RECORD");
    app.add_option("--output-dir", folder_, "Where the winner goes (default: export/<shape>)")
        .type_name("DIR");
    declare_anew(app, options_, false);
  }

  bool asked() const override { return !shape_.empty(); }
  const char* idle_flag() const override { return kernel_.empty() ? nullptr : "--kernel"; }

  Result<int> run(Context& context, const ExportRequest& request) override {
    if (!request.output.empty())
      return fail(ErrorCode::invalid_input,
                  "--output is one file, and a winner is several: give --output-dir");
    ASSAY_TRY(const RecordAt at, find_record(run_.empty() ? request.source : run_));
    if (!has_winners(at.record))
      return fail(ErrorCode::invalid_input,
                  "{}: a record of `assay {}` has no winner: it timed the kernels that were named, "
                  "and nobody raced them; export from a record of race or sweep",
                  at.path.string(), sanitize(at.record.kind, 40));
    ASSAY_TRY(const auto chosen, choose_problems(at, {shape_}));
    if (chosen.size() > 1)
      return fail(ErrorCode::invalid_input, "--winner: '{}' is {} problems of {}: {}; name one",
                  sanitize(shape_, 200), chosen.size(), at.path.string(), names_of(chosen));
    const ProblemRecord& recorded = *chosen.front();
    ASSAY_TRY(const KernelOutcome* const chosen_kernel, choose_kernel(at, recorded));
    const fs::path folder =
        folder_.empty() ? fs::path("export") / recorded.name : fs::path(folder_);
    ASSAY_TRY(check_folder(folder));
    ASSAY_TRY(const sweep::Request asked, replay_request(context, at, recorded, options_));
    const Problem& problem = asked.question.problems.front();
    ASSAY_TRY(const KernelExport made, sweep::export_kernel(asked, problem, chosen_kernel->id));
    const WinnerFacts facts{at.record, recorded, *chosen_kernel,
                            recorded.conclusion()->median_us(chosen_kernel->id), at.path.string()};
    ASSAY_TRY(const auto files, export_files(problem, made, facts));
    ASSAY_TRY(write(folder, files));
    show(context.console, facts, made, folder, files);
    return kDone;
  }

 private:
  static bool has_winners(const RunRecord& record) {
    return record.kind == "race" || record.kind == "sweep";
  }

  Result<const KernelOutcome*> choose_kernel(const RecordAt& at,
                                             const ProblemRecord& recorded) const {
    if (kernel_.empty()) {
      const KernelOutcome* const winner = recorded.winner();
      if (winner != nullptr) return winner;
      return fail(ErrorCode::missing, "{} has no winner in {}{}{}", recorded.name, at.path.string(),
                  recorded.no_winner.empty() ? "" : ": ", sanitize(recorded.no_winner, 300));
    }
    std::vector<std::string> names;
    const Conclusion* const conclusion = recorded.conclusion();
    for (const KernelOutcome& kernel : recorded.kernels) {
      if (conclusion == nullptr || !is_timed(kernel.ending) ||
          conclusion->median_us(kernel.id) <= 0)
        continue;
      if (kernel.label() == kernel_) return &kernel;
      names.push_back(kernel.label());
    }
    return fail(ErrorCode::missing, "{} confirmed no kernel '{}' on {}{}", at.path.string(),
                sanitize(kernel_, 200), recorded.name,
                did_you_mean(kernel_, names, "it confirmed: " + join(names, ", ")));
  }

  Result<RecordAt> find_record(const std::string& given) const {
    if (!given.empty()) return read_honest_record(given);
    std::set<std::string> names;
    for (const fs::path& path : records_here()) {
      const auto record = load_record(path.string());
      if (!record || !has_winners(*record)) continue;
      if (!find_shape(*record, shape_).empty()) return read_honest_record(path.string());
      for (const ProblemRecord& problem : record->problems) names.insert(problem.name);
    }
    return fail(ErrorCode::missing,
                "no run below runs or artifacts has a shape '{}'; race or sweep it first, or name "
                "a record with --run{}",
                sanitize(shape_, 200), shapes_text({names.begin(), names.end()}));
  }

  static std::string names_of(const std::vector<const ProblemRecord*>& problems) {
    std::vector<std::string> names;
    for (const ProblemRecord* const problem : problems) names.push_back(problem->name);
    return join(names, ", ");
  }

  // What could have been meant: shapes of the runs that there are.
  std::string shapes_text(const std::vector<std::string>& names) const {
    if (names.empty()) return {};
    return did_you_mean(shape_, names, "runs here have: " + join(names, ", "));
  }

  // Nothing is overwritten.
  static Status check_folder(const fs::path& folder) {
    std::error_code error;
    if (!fs::exists(folder, error) ||
        (fs::is_directory(folder, error) && fs::is_empty(folder, error)))
      return {};
    return fail(ErrorCode::invalid_input,
                "--output-dir: '{}' is there already; name another folder, or remove it",
                sanitize(folder.string(), 300));
  }

  // All of them, or none: a folder with a part of a winner would build, and lie in the way.
  static Status write(const fs::path& folder, const std::vector<ExportFile>& files) {
    for (const ExportFile& file : files)
      if (!file.lies_below())
        return fail(ErrorCode::internal, "an exported file would lie at '{}'",
                    sanitize(file.path, 300));
    Status written = write_each(folder, files);
    std::error_code ignored;
    if (!written) fs::remove_all(folder, ignored);  // It was empty, or not there.
    return written;
  }

  static Status write_each(const fs::path& folder, const std::vector<ExportFile>& files) {
    for (const ExportFile& file : files) {
      const fs::path path = folder / file.path;
      ASSAY_TRY(make_directories(path.parent_path().string()));
      ASSAY_TRY(write_file_atomic(path.string(), file.text));
    }
    return {};
  }

  static void show(Console& console, const WinnerFacts& facts, const KernelExport& made,
                   const fs::path& folder, const std::vector<ExportFile>& files) {
    std::vector<std::string> names;
    for (const ExportFile& file : files) names.push_back(file.path);
    const std::string build = fmt::format("make -C {} run", shell_word(folder.string()));
    if (console.json()) {
      console.result(dump_pretty({{"schema", "assay.export/1"},
                                  {"problem", facts.problem.name},
                                  {"winner", facts.kernel.label()},
                                  {"id", facts.kernel.id},
                                  {"recorded_us", facts.median_us},
                                  {"record", facts.record},
                                  {"what", made.what},
                                  {"folder", folder.string()},
                                  {"files", names},
                                  {"build", build},
                                  {"exit_code", kDone}}));
      return;
    }
    const report::TextStyle style{console.width_out(), console.colour_out()};
    console.result(
        line_text({facts.problem.winner() == &facts.kernel ? "winner" : "kernel",
                   fmt::format("{}, {} us in {}", sanitize(facts.kernel.label(), 240),
                               report::microseconds(facts.median_us), facts.record)},
                  style) +
        line_text({"ships", made.what}, style) +
        line_text({"wrote", fmt::format("{}: {}", folder.string(), join(names, ", "))}, style) +
        line_text({"next", build}, style));
  }

  std::string shape_, kernel_, run_, folder_;
  RaceOptions options_;
};

}  // namespace

std::unique_ptr<ExportMode> make_export_winner() { return std::make_unique<ExportWinner>(); }

}  // namespace assay::cli
