#include "assay/lab/evaluate/profile_stage.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/lab/evaluate/sweep_race.h"
#include "assay/record/gpu_profile.h"

namespace assay::lab {
namespace {

constexpr int kKeepsBetween = 5;
constexpr double kReportSeconds = 300;
constexpr std::size_t kMostReport = std::size_t{64} << 20;

bool is_due(const StageContext& stage, const HistoryContent& content) {
  if (stage.options.profile) return true;
  if (stage.record.outcome != AttemptOutcome::keep) return false;
  if (stage.record.baseline) return true;
  const auto keeps = std::ranges::count_if(content.attempts, [&](const Attempt& attempt) {
    return attempt.series == stage.record.series && !attempt.baseline &&
           attempt.outcome == AttemptOutcome::keep;
  });
  return (keeps + 1) % kKeepsBetween == 0;
}

class Profiler {
 public:
  Profiler(const StageContext& stage, const RunnerOptions& runner, const Side& side,
           const Side& other)
      : stage_(stage), runner_(runner), side_(side), other_(other) {}

  Result<AttemptProfile> run() {
    const std::string& metric = stage_.target.objective.metric;
    const Benchmark& benchmark = *stage_.target.find_benchmark(metric.substr(0, metric.find('.')));
    if (std::holds_alternative<SweepRace>(benchmark.kind)) return of_race(benchmark);
    const auto* shell = std::get_if<ShellJson>(&benchmark.kind);
    if (shell == nullptr)
      return AttemptProfile{"", "a server under load is not profiled here", {}, ""};
    ASSAY_TRY(const TemporaryDirectory folder, TemporaryDirectory::create());
    folder_ = folder.path();
    environment_ = side_.environment;
    environment_.insert(benchmark.environment.begin(), benchmark.environment.end());
    environment_["ASSAY_WORKSPACE"] = (side_.folder / "workspace").string();
    seconds_ = benchmark.timeout_seconds;
    return stage_.options.device == "cpu" ? of_cores(shell->command) : of_gpu(shell->command);
  }

 private:
  // The race says itself how much of the weighted time each shape takes; what limits the kernel of
  // the largest, `assay why` does.
  Result<AttemptProfile> of_race(const Benchmark& benchmark) const {
    AttemptProfile profile{"assay race", "", {}, ""};
    const std::string prefix = benchmark.name + '.', suffix = ".share";
    for (const auto& [name, metric] : stage_.record.metrics)
      if (name.starts_with(prefix) && name.ends_with(suffix))
        profile.buckets.push_back(
            {name.substr(prefix.size(), name.size() - prefix.size() - suffix.size()),
             metric.value});
    std::ranges::stable_sort(profile.buckets, std::ranges::greater(), &AttemptBucket::share);
    if (profile.buckets.empty())
      profile.reason = "the race was not measured";
    else
      ASSAY_TRY(explain(benchmark, profile));
    return profile;
  }

  Status explain(const Benchmark& benchmark, AttemptProfile& profile) const {
    const auto& race = std::get<SweepRace>(benchmark.kind);
    const std::vector<std::string> manifests = {(side_.folder / race.manifest).string(),
                                                (other_.folder / race.manifest).string()};
    const auto record = load_record((last_race(benchmark.name) / "record.json").string());
    const auto families = stage_.options.families_of(manifests);
    if (!record || !families) return {};
    const auto heaviest = heaviest_of(*record, families->front());
    if (!heaviest) return {};
    ASSAY_TRY(const TemporaryDirectory folder, TemporaryDirectory::create());
    const std::string suite = folder.file("suite.yaml");
    // A record's problem names its operation, a suite's shape does not. JSON is YAML.
    Json content = {{"suite", "profile"}}, shape = heaviest->problem;
    if (const auto operation = shape.find("operation"); operation != shape.end()) {
      content["operation"] = *operation;
      shape.erase("operation");
    }
    content["shapes"] = Json::array({std::move(shape)});
    ASSAY_TRY(write_file_atomic(suite, content.dump()));
    std::vector<std::string> words = {"/proc/self/exe", "why",        heaviest->kernel_id,
                                      "--kernels",      manifests[0], "--kernels",
                                      manifests[1],     "--suite",    suite};
    for (std::string& word : without_shapes(race.arguments)) words.push_back(std::move(word));
    for (std::string word : {std::string("--output-dir"), folder.file("why"), std::string("--json"),
                             std::string("--quiet")})
      words.push_back(std::move(word));
    ASSAY_TRY(const ProgramRun run,
              ProgramRunner(runner_).run("profile-why", words, side_.folder, side_.environment,
                                         benchmark.timeout_seconds));
    const Explained explained = read_why(run.out);
    if (explained.because.empty()) {
      profile.limit = "assay why does not say what limits it" +
                      (run.failure ? ": " + run.reason : std::string());
      return {};
    }
    profile.tool += ", assay why";
    if (!explained.tool.empty()) profile.tool += ", " + explained.tool;
    profile.limit =
        fmt::format("{} on {}: {}", heaviest->kernel, heaviest->shape, explained.because);
    return {};
  }

  // Each look has a race of its own: "gemm-0", "gemm-8", "gemm-16".
  std::filesystem::path last_race(const std::string& name) const {
    std::filesystem::path last;
    for (std::size_t first = 0; first < stage_.record.pairs.size(); ++first)
      if (auto folder = runner_.logs.parent_path() / fmt::format("{}-{}", name, first);
          std::filesystem::exists(folder / "record.json"))
        last = std::move(folder);
    return last;
  }

  bool is_there(const char* program) const {
    return !find_along_path(program, runner_.environment).empty();
  }

  // True: it ended well.
  Result<ProgramRun> run_program(const std::string& label, std::vector<std::string> words,
                                 double seconds) const {
    return ProgramRunner(runner_).run("profile-" + label, words, side_.folder, environment_,
                                      seconds);
  }

  static std::vector<std::string> before(std::vector<std::string> words,
                                         const std::vector<std::string>& command) {
    words.insert(words.end(), command.begin(), command.end());
    return words;
  }

  Result<AttemptProfile> of_cores(const std::vector<std::string>& command) const {
    std::string why = "neither perf nor valgrind is installed";
    if (is_there("perf")) {
      const std::string data = (folder_ / "perf.data").string();
      // Samples of the clock: counters of a virtual machine may not be there.
      ASSAY_TRY(const ProgramRun ran,
                run_program("perf",
                            before({"perf", "record", "--quiet", "-e", "cpu-clock", "-F", "499",
                                    "-o", data, "--"},
                                   command),
                            seconds_));
      ASSAY_TRY(const ProgramRun report,
                run_program("report",
                            {"perf", "report", "--stdio", "--quiet", "--no-children", "-F",
                             "overhead,sym", "-i", data},
                            kReportSeconds));
      if (!ran.failure && !report.failure)
        if (auto buckets = read_perf_report(report.out); !buckets.empty())
          return AttemptProfile{"perf", "", std::move(buckets), ""};
      why = "perf took no samples" + (ran.failure ? ": " + ran.reason : std::string());
    }
    if (!is_there("valgrind") || !is_there("callgrind_annotate"))
      return AttemptProfile{"", why, {}, ""};
    constexpr double kSlower = 50;  // Than without it.
    const std::string data = (folder_ / "callgrind.out").string();
    ASSAY_TRY(const ProgramRun ran,
              run_program("callgrind",
                          before({"valgrind", "--tool=callgrind", "--trace-children=yes",
                                  "--callgrind-out-file=" + data + ".%p"},
                                 command),
                          kSlower * seconds_));
    if (ran.failure) return AttemptProfile{"callgrind", ran.reason, {}, ""};
    ASSAY_TRY(const ProgramRun report,
              run_program("report", before({"callgrind_annotate", "--show-percs=yes"}, newest()),
                          kReportSeconds));
    AttemptProfile profile{"callgrind", report.failure ? report.reason : "",
                           read_callgrind_report(report.out), ""};
    if (profile.buckets.empty() && profile.reason.empty())
      profile.reason = "callgrind_annotate named no function";
    return profile;
  }

  // Of the process that did most: its file is the largest.
  std::vector<std::string> newest() const {
    std::string largest;
    std::uintmax_t bytes = 0;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored))
      if (entry.file_size(ignored) > bytes) {
        bytes = entry.file_size(ignored);
        largest = entry.path().string();
      }
    return {largest};
  }

  Result<AttemptProfile> of_gpu(const std::vector<std::string>& command) const {
    if (is_there("nsys")) return by_nsys(command);
    if (is_there("ncu")) return by_ncu(command);
    return AttemptProfile{"", "neither nsys nor ncu is installed", {}, ""};
  }

  // Its clock alone: one pass, and no kernel is run again.
  Result<AttemptProfile> by_ncu(const std::vector<std::string>& command) const {
    const std::string file = (folder_ / "ncu.csv").string();
    ASSAY_TRY(
        const ProgramRun ran,
        run_program("ncu",
                    before({"ncu", "--target-processes", "all", "--csv", "--page", "raw",
                            "--metrics", std::string(metric::kNanoseconds), "--log-file", file},
                           command),
                    seconds_ + kReportSeconds));
    if (ran.failure) return AttemptProfile{"ncu", ran.reason, {}, ""};
    const auto text = read_file(file, kMostReport);
    AttemptProfile profile{"ncu", text ? "" : "ncu wrote no report", {}, ""};
    if (text) profile.buckets = read_ncu_kernels(*text);
    if (profile.buckets.empty() && profile.reason.empty())
      profile.reason = "ncu saw no kernel of a GPU";
    return profile;
  }

  Result<AttemptProfile> by_nsys(const std::vector<std::string>& command) const {
    const std::string data = (folder_ / "profile").string();
    ASSAY_TRY(const ProgramRun ran,
              run_program("nsys",
                          before({"nsys", "profile", "--sample=none", "--trace=cuda",
                                  "--force-overwrite=true", "--output=" + data},
                                 command),
                          seconds_ + kReportSeconds));
    if (ran.failure) return AttemptProfile{"nsys", ran.reason, {}, ""};
    ASSAY_TRY(const ProgramRun report,
              run_program("report",
                          {"nsys", "stats", "--quiet", "--report", "cuda_gpu_kern_sum", "--format",
                           "csv", data + ".nsys-rep"},
                          kReportSeconds));
    AttemptProfile profile{"nsys", report.failure ? report.reason : "",
                           read_nsys_kernels(report.out), ""};
    if (profile.buckets.empty() && profile.reason.empty())
      profile.reason = "nsys saw no kernel of a GPU";
    return profile;
  }

  const StageContext& stage_;
  const RunnerOptions& runner_;
  const Side& side_;
  const Side& other_;
  std::filesystem::path folder_;
  Environment environment_;
  double seconds_ = 0;
};

}  // namespace

Status profile(const StageContext& stage, const RunnerOptions& runner, const Side& candidate,
               const Side& incumbent, const HistoryContent& content) {
  if (!is_due(stage, content)) return {};
  stage.observer.on_stage("profile");
  const std::int64_t began = monotonic_ns();
  ASSAY_TRY(stage.record.profile, Profiler(stage, runner, candidate, incumbent).run());
  const AttemptProfile& profile = *stage.record.profile;
  add_stage(stage.record, "profile", profile.buckets.empty() ? "skipped" : "passed",
            seconds_since(began), profile.buckets.empty() ? profile.reason : "by " + profile.tool);
  return {};
}

}  // namespace assay::lab
