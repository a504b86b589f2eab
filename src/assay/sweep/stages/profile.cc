#include "assay/sweep/stages/profile.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "assay/base/fd.h"
#include "assay/base/file.h"
#include "assay/base/json_bytes.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/base/visible_gpus.h"
#include "assay/process/messages.h"
#include "assay/record/ncu_csv.h"
#include "assay/sweep/stages/station.h"

namespace assay::sweep {
namespace {

namespace fs = std::filesystem;

constexpr int kLaunches = 3;  // A median's least.
// Of one kernel: ncu takes seconds to start, and launches each of a library's several times over.
constexpr double kSeconds = 180;
constexpr double kVersionSeconds = 30;
constexpr size_t kMostOutput = size_t{8} << 20;

// Those of every GPU since sm_80; then the others.
constexpr std::string_view kCore[] = {metric::kNanoseconds, metric::kRead,      metric::kWritten,
                                      metric::kWaves,       metric::kRegisters, metric::kBlocks,
                                      metric::kThreads,     metric::kShared};
constexpr std::string_view kAll[] = {metric::kNanoseconds, metric::kRead,       metric::kWritten,
                                     metric::kWaves,       metric::kRegisters,  metric::kBlocks,
                                     metric::kThreads,     metric::kShared,     metric::kMemory,
                                     metric::kL2,          metric::kTensor,     metric::kOccupancy,
                                     metric::kLocalLoads,  metric::kLocalStores};

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The first line with such a word, without the tool's mark; empty: there is none.
std::string line_with(std::string_view text, std::string_view word) {
  for (std::string_view line : split(text, '\n')) {
    if (line.find(word) == std::string_view::npos) continue;
    if (line.starts_with("==")) line.remove_prefix(std::min(line.find("== ") + 3, line.size()));
    return sanitize(trim(line), 400);
  }
  return {};
}

// Why there are no numbers, of what the tool and the program in it wrote.
std::string explain(const CommandOutput& ran, const std::string& written,
                    const std::string& no_table) {
  const std::string all = written + '\n' + ran.out + '\n' + ran.err;
  if (all.find("ERR_NVGPUCTRPERM") != std::string::npos)
    return "ncu may not read the GPU's counters (ERR_NVGPUCTRPERM), which the driver keeps for "
           "administrators: run as root, give the container --cap-add SYS_ADMIN, or load the "
           "driver's module with NVreg_RestrictProfilingToAdminUsers=0";
  if (ran.timed_out) return fmt::format("ncu did not end within {}", format_duration(kSeconds));
  if (const std::string own = line_with(ran.err, "assay: "); !own.empty())
    return "ncu: the launches it was to look at failed: " + own;
  if (const std::string error = line_with(all, "==ERROR=="); !error.empty())
    return "ncu failed: " + error;
  if (!ran.status.success()) return "ncu failed: it " + ran.status.describe();
  if (const std::string warning = line_with(all, "==WARNING=="); !warning.empty())
    return "ncu saw nothing: " + warning;
  return "ncu: " + no_table;
}

class Ncu {
 public:
  explicit Ncu(const Station& station) : station_(station), request_(station.request) {}

  Result<GpuProfile> profile(const Candidate& candidate, size_t number) {
    ASSAY_TRY(const std::string version, find_version());
    GpuProfile profile;
    profile.tool = version;
    if (!hopeless_.empty()) {
      profile.unavailable = hopeless_;
      return profile;
    }
    ASSAY_TRY(const std::string script, write_script(candidate, number));
    ASSAY_TRY(const bool known, look(kAll, script, number, profile));
    if (known) return profile;
    const std::string why = std::exchange(profile.unavailable, {});
    ASSAY_TRY(look(kCore, script, number, profile).map([](bool) {}));
    profile.note = why;
    return profile;
  }

 private:
  // "ncu 2025.3.1.0"; of a program that does not say, its name.
  Result<std::string> find_version() {
    if (!version_.empty()) return version_;
    SubprocessOptions options;
    options.argv = {request_.effort.ncu, "--version"};
    options.env = worker_environment(request_);
    const auto ran =
        run_command(options, {.timeout_ns = static_cast<int64_t>(kVersionSeconds * 1e9),
                              .max_output = 1 << 16,
                              .input = {},
                              .cancel_fd = request_.caller.cancel_fd});
    if (!ran && ran.error().code == ErrorCode::interrupted) return fail(ran.error());
    version_ = "ncu";
    if (!ran) return version_;  // What comes next says why.
    const size_t at = ran->out.find("\nVersion ");
    if (at != std::string::npos) {
      const std::string_view rest = std::string_view(ran->out).substr(at + 9);
      version_ += ' ' + sanitize(rest.substr(0, rest.find_first_of(" \n")), 40);
    }
    return version_;
  }

  Result<std::string> write_script(const Candidate& candidate, size_t number) const {
    ASSAY_TRY(const input::PackedSources* const packed, station_.crew.sources());
    process::ProfileScript script{
        .init = worker_init(request_, *packed),
        .sources = in_folder("ncu-sources.bin"),
        .problem = station_.problem,
        .rotate = {.condition = station_.condition, .key = 1},  // Nothing is claimed of it.
        .open = {candidate.built_kernel()},
        .launches = kLaunches};
    ASSAY_TRY(const MappedFile bytes, MappedFile::map_read_only(packed->bytes.get()));
    ASSAY_TRY(write_file_atomic(script.sources, as_text(bytes.bytes())));
    // Code for the processor that a user brought; a profiler's own part is in that process, too.
    script.init.confine = station_.crew.has_native_guests();
    const std::string file = in_folder(fmt::format("ncu-{}.json", number));
    ASSAY_TRY(write_file_atomic(
        file, canonical_bytes(process::Codec<process::ProfileScript>::write(script))));
    return file;
  }

  std::string in_folder(const std::string& name) const {
    return fs::absolute(request_.keep.folder / name).lexically_normal().string();
  }

  // Whether the tool knows these metrics.
  Result<bool> look(std::span<const std::string_view> metrics, const std::string& script,
                    size_t number, GpuProfile& profile) {
    std::error_code ignored;
    const bool self =
        request_.caller.program == "/proc/self/exe";  // In the tool that would be the tool.
    const std::string program = self ? fs::read_symlink(request_.caller.program, ignored).string()
                                     : request_.caller.program;
    const std::string name = fmt::format("ncu-{}.csv", number), output = in_folder(name);
    fs::remove(output, ignored);
    std::string list;
    for (const std::string_view metric : metrics)
      list.append(list.empty() ? "" : ",").append(metric);
    SubprocessOptions options;
    // Of kernels that are replayed for each pass, cold ones are so in each, since it empties
    // caches.
    options.argv = {request_.effort.ncu,
                    "--csv",
                    "--page",
                    "raw",
                    "--print-units",
                    "base",
                    "--profile-from-start",
                    "off",
                    "--target-processes",
                    "application-only",
                    "--replay-mode",
                    "kernel",
                    "--cache-control",
                    station_.condition.cache == measure::Cache::warm ? "none" : "all",
                    "--clock-control",
                    "none",
                    "--log-file",
                    output,
                    "--metrics",
                    list,
                    program,
                    "profiled",
                    script};
    options.env = worker_environment(request_);
    profile.command_line.clear();
    for (const std::string& variable : options.env)
      if (variable.starts_with(std::string(kVisibleGpus) + '=')) {
        profile.command_line = {"env", variable};
      }
    profile.command_line.insert(profile.command_line.end(), options.argv.begin(),
                                options.argv.end());
    profile.output = name;
    const auto ran = run_command(options, {.timeout_ns = static_cast<int64_t>(kSeconds * 1e9),
                                           .max_output = 1 << 18,
                                           .input = {},
                                           .cancel_fd = request_.caller.cancel_fd});
    if (!ran) {
      if (ran.error().code == ErrorCode::interrupted) return fail(ran.error());
      profile.unavailable = "ncu did not start: " + ran.error().message;
      return true;
    }
    const auto written = read_file(output, kMostOutput);
    const std::string text = written ? *written : std::string();
    const auto all = read_ncu_csv(text, name, metrics);
    auto one = all && ran->status.success()
                   ? one_launch(*all, kLaunches)
                   : Result<std::vector<ProfiledKernel>>(
                         fail(ErrorCode::failed, "{}", all ? std::string() : all.error().message));
    if (one && !one->empty()) {
      profile.launches = kLaunches;
      profile.kernels = std::move(*one);
      return true;
    }
    profile.unavailable = explain(*ran, text, one.error().message);
    if (ran->timed_out || profile.unavailable.find("ERR_NVGPUCTRPERM") != std::string::npos)
      hopeless_ = profile.unavailable;
    return profile.unavailable.find("to find metric") == std::string::npos;
  }

  const Station& station_;
  const Request& request_;
  std::string version_;
  std::string hopeless_;  // Why no other kernel will do better.
};

}  // namespace

Result<std::map<std::string, GpuProfile>> profile_kernels(
    const Station& station, const Field& field, const std::vector<std::string>& finalists) {
  std::map<std::string, GpuProfile> profiles;
  const Request& request = station.request;
  if (request.venue.is_cpu()) return profiles;
  // Counters are the GPU's, and memory may be short.
  if (!request.effort.ncu.empty()) station.crew.dismiss();
  Ncu ncu(station);
  for (size_t i = 0; i < finalists.size(); ++i) {
    const auto candidate = std::ranges::find(field.candidates, finalists[i],
                                             [](const Candidate& one) { return one.outcome.id; });
    if (candidate == field.candidates.end() || !candidate->alive()) continue;
    GpuProfile& profile = profiles[finalists[i]];
    if (request.effort.ncu.empty()) {
      profile.unavailable = request.effort.no_ncu;
      continue;
    }
    station.observer.on_stage("profile", i + 1, finalists.size(), candidate->outcome.label());
    ASSAY_TRY(profile, ncu.profile(*candidate, i + 1));
  }
  return profiles;
}

}  // namespace assay::sweep
