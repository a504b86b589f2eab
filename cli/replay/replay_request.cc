#include "cli/replay/replay_request.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "assay/base/choices.h"
#include "assay/base/operation_name.h"
#include "assay/base/text.h"
#include "assay/compare/claimed.h"
#include "assay/compare/recompute.h"
#include "assay/device/cpu/cpu_device.h"
#include "cli/files/kernel_copies.h"
#include "cli/files/user_files.h"
#include "cli/flags/choose_device.h"
#include "cli/flags/recorded_shape.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShownDifferences = 5;
constexpr int kFewestProcesses = 2, kMostProcesses = 64;  // As --processes takes them.
// What a user says anew; all else that a request can refuse is the record's.
constexpr std::string_view kSetting = "--setting";  // The record's, too, where they give none.
constexpr std::string_view kUsersFlags[] = {
    "--library", kSetting, "--budget", "--timeout", "--compile-timeout", "--memory-limit"};

Error in_record(const fs::path& path, std::string_view what) {
  return {ErrorCode::invalid_input, fmt::format("{}: {}", sanitize(path.string(), 300), what)};
}

// PROVIDER.NAME=VALUE out of a record. Of a setting that there is none of, who reads it says so.
bool is_obeyed(std::string_view setting) {
  const std::string_view key = setting.substr(0, setting.find('='));
  const size_t dot = key.find('.');
  const std::string_view name = dot == std::string_view::npos ? "" : key.substr(dot + 1);
  for (const auto& provider : built_in_providers()) {
    const ProviderInfo& info = provider->info();
    if (info.name != key.substr(0, dot)) continue;
    const bool declared =
        std::ranges::find(info.settings, name, &ProviderSetting::name) != info.settings.end();
    return may_be_recorded(info, name) || (!declared && name != "library");
  }
  return true;
}

// A second copy of one kernel has a number behind its id.
std::string plain_id(const std::string& id) { return id.substr(0, id.find('#')); }

}  // namespace

Result<RecordAt> read_honest_record(const std::string& path) {
  RecordAt at;
  std::error_code ignored;
  at.path = fs::is_directory(path, ignored) ? fs::path(path) / "record.json" : fs::path(path);
  at.folder = at.path.parent_path();
  if (at.folder.empty()) at.folder = ".";
  auto record = load_record(at.path.string());
  if (!record && record.error().code == ErrorCode::not_found)
    return fail(ErrorCode::missing, "{}", record.error().message);
  if (!record) return fail(std::move(record).error());
  at.record = std::move(*record);
  // A record may come from anywhere: which code is loaded with a user's rights, only the user says.
  for (const std::string& setting : at.record.options.settings)
    if (!is_obeyed(setting))
      return fail(in_record(
          at.path, fmt::format("options.settings: '{}' names a library, or where code lies; only "
                               "--library and --setting of your own may",
                               sanitize(setting, 200))));
  const std::vector<Difference> differences = recompute(at.record);
  if (!differences.empty()) {
    std::string sentences = "its words do not follow from its samples: it was edited, or damaged";
    for (size_t i = 0; i < differences.size() && i < kShownDifferences; ++i)
      sentences += "\n  " + differences[i].sentence();
    if (differences.size() > kShownDifferences)
      sentences += fmt::format("\n  and {} more", differences.size() - kShownDifferences);
    return fail(in_record(at.path, sentences));
  }
  return at;
}

Result<std::vector<const ProblemRecord*>> choose_problems(const RecordAt& at,
                                                          const std::vector<std::string>& names) {
  std::set<const ProblemRecord*> named;
  for (const std::string& name : names) {
    const auto found = find_shape(at.record, name);
    named.insert(found.begin(), found.end());
    if (!found.empty()) continue;
    std::vector<std::string> known;
    for (const ProblemRecord& problem : at.record.problems) known.push_back(problem.name);
    return fail(
        in_record(at.path, fmt::format("there is no problem '{}' in it{}", sanitize(name, 200),
                                       did_you_mean(name, known, "it has: " + join(known, ", ")))));
  }
  std::vector<const ProblemRecord*> chosen;
  for (const ProblemRecord& problem : at.record.problems)
    if (names.empty() || named.contains(&problem)) chosen.push_back(&problem);
  return chosen;
}

void declare_anew(Flags& app, RaceOptions& options, bool raced) {
  options.pool.declare_settings(app);
  app.set_group(FlagGroup::more);
  app.add_option("--cache-dir", options.pool.cache, "Where compiled kernels are kept")
      .type_name("DIR");
  app.add_option("--cxx", options.pool.cxx, "C++ compiler for users' sources").type_name("PROGRAM");
  if (!raced) return;
  app.set_group(FlagGroup::measuring);
  app.add_option("--budget", options.budget,
                 "Time to spend on timing each problem (default: as in the record)")
      .type_name("TIME");
  app.add_option("--timeout", options.timeout,
                 "How long a candidate may be silent before it counts as hung")
      .type_name("TIME")
      .show_default();
  app.add_option("--compile-timeout", options.compile_timeout,
                 "How long a compiler may take over one source before it is stopped")
      .type_name("TIME")
      .show_default();
  app.add_option("--memory-limit", options.memory_limit,
                 "The most memory that a candidate or a compiler may take (default: half of the "
                 "machine's)")
      .type_name("SIZE");
  options.declare_lock(app);
}

namespace {

// Where no device was named, that of the record's kind: its claims are of a GPU, or of cores.
Result<Context> on_its_device(const Context& context, const RecordAt& at) {
  Context there = context;
  if (context.device_named || at.record.environment.device.kind != "gpu") return there;
  auto gpu = choose_device("gpu");
  if (!gpu)
    return fail(ErrorCode::missing, "{}: its claims are of a GPU: {}",
                sanitize(at.path.string(), 300), gpu.error().message);
  there.venue.gpu = *gpu;
  return there;
}

}  // namespace

Status check_reference_may_run(const RecordAt& at, const ProblemRecord& recorded) {
  if (!is_defined_by_user(recorded.operation)) return {};
  return fail(ErrorCode::unsupported,
              "{}: {} is defined by a function that the record holds, and assay runs no such code "
              "for you; write it down as FILE.op.yaml, and race the kernels again",
              sanitize(at.path.string(), 300), sanitize(operation_title(recorded.operation), 120));
}

Result<sweep::Request> replay_request(const Context& context, const RecordAt& at,
                                      const ProblemRecord& recorded, const RaceOptions& anew) {
  const RunRecord& record = at.record;
  const RunOptions& then = record.options;
  auto problem = problem_of(recorded);
  if (!problem) return fail(in_record(at.path, problem.error().message));
  if (then.providers.empty())
    return fail(in_record(at.path, "options.providers: no pool is named to race against"));
  for (const std::string& provider : then.providers)
    if (!is_provider(provider))
      return fail(ErrorCode::missing,
                  "{}: provider '{}' took part, and this assay has none of that name",
                  sanitize(at.path.string(), 300), sanitize(provider, 80));
  if (then.processes < kFewestProcesses || then.processes > kMostProcesses)
    return fail(in_record(at.path, fmt::format("processes: {} is not {} to {}", then.processes,
                                               kFewestProcesses, kMostProcesses)));
  if (then.threads < 1) return fail(in_record(at.path, "threads: a run has at least one"));
  if (const auto cores = static_cast<int>(cpu::read_topology().physical_cores.size());
      then.threads > cores)
    return fail(ErrorCode::missing,
                "{}: its kernels had {} cores, and this process may use {}: threads are part of "
                "the claim",
                sanitize(at.path.string(), 300), then.threads, cores);
  RaceOptions options = anew;
  options.pool.providers = then.providers;
  options.pool.filter = then.filter;
  // What the user says anew wins over the record's, as the last of a name does.
  options.pool.settings.insert(options.pool.settings.begin(), then.settings.begin(),
                               then.settings.end());
  options.pool.threads = then.threads;
  options.condition = recorded.condition.to_string();
  options.preparation = recorded.race_class.preparation;
  options.dependent_launch = recorded.race_class.dependent_launch;
  options.margin = fmt::format("{:.17g}", then.margin);
  if (then.most_processes <= then.processes) options.processes = then.processes;
  options.ranking.ranker = then.ranker.empty() ? kNoRanker : then.ranker;
  options.ranking.build = then.build > 0 ? fmt::to_string(then.build) : "all";
  ASSAY_TRY(const Context there, on_its_device(context, at));
  auto request = options.make_request(there, record.kind);
  if (!request) {
    const std::string& message = request.error().message;
    const bool is_users = std::ranges::any_of(kUsersFlags, [&](std::string_view flag) {
      return message.starts_with(flag) && (flag != kSetting || !anew.pool.settings.empty());
    });
    return fail(is_users ? request.error() : in_record(at.path, message));
  }
  if (options.budget.empty() && then.budget_seconds > 0)
    request->effort.budget_seconds =
        then.budget_seconds / static_cast<double>(record.problems.size());
  request->question.suite = then.suite;
  if (!then.kernels.empty()) request->pool.only.push_back({.ids = then.kernels});
  request->question.problems = {std::move(*problem)};
  ASSAY_TRY(request->pool.kernels, kept_kernels(at.folder, record.sources));
  const bool users = std::ranges::any_of(recorded.kernels, [](const KernelOutcome& kernel) {
    return kernel.role == KernelRole::user;
  });
  if (users && request->pool.kernels.empty())
    return fail(ErrorCode::missing,
                "{}: users' kernels took part, and their sources are not beside the record: keep "
                "its sources folder there",
                sanitize(at.path.string(), 300));
  return request;
}

Status narrow_to_claim(sweep::Request& request, const ProblemRecord& problem) {
  const PairVerdict& headline = *problem.headline();
  const KernelOutcome* candidate = problem.find(headline.candidate);
  if (candidate == nullptr)
    return fail(ErrorCode::invalid_input, "{} names no kernel", problem.name);
  KernelChoice& claimed = request.pool.only.emplace_back();
  claimed.ids.push_back(plain_id(headline.candidate));
  if (candidate->role == KernelRole::stock) {
    claimed.ids.push_back(plain_id(headline.other));
  } else {
    for (const auto& provider : built_in_providers())
      if (provider->info().role == ProviderRole::stock)
        claimed.providers.push_back(provider->info().name);
  }
  request.effort.exhaustive = true;
  return {};
}

}  // namespace assay::cli
