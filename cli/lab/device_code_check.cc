#include "cli/lab/device_code_check.h"

#include <algorithm>

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/lab/evaluate/program_runner.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kSeconds = 600;  // For one file.

std::vector<fs::path> sources_below(const fs::path& folder) {
  std::vector<fs::path> sources;
  std::error_code failed;
  for (fs::recursive_directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string kind = entry->path().extension().string();
    if (entry->is_regular_file(failed) && (kind == ".cu" || kind == ".ptx"))
      sources.push_back(entry->path());
  }
  std::ranges::sort(sources);
  return sources;
}

// The first error, whose line ptxas names as "ptxas FILE, line 12; error   : WORDS".
std::string first_ptxas_error(const fs::path& source, std::string_view printed) {
  constexpr std::string_view kLine = ", line ";
  for (const std::string_view line : split(printed, '\n')) {
    const size_t at = line.find(kLine), words = line.find(" : ");
    if (at == std::string_view::npos || words == std::string_view::npos || words < at) continue;
    if (line.find("; error") > words && line.find("; fatal") > words) continue;  // A warning.
    const std::string_view number = line.substr(at + kLine.size());
    return fmt::format("{}:{}: {}", sanitize(source.filename().string(), 200),
                       number.substr(0, number.find_first_not_of("0123456789")),
                       sanitize(trim(line.substr(words + 3)), 300));
  }
  return {};
}

class Emitter {
 public:
  Emitter(const Context& context, const LabPlace& place, std::string nvcc)
      : nvcc_(std::move(nvcc)),
        workspace_(place.target.folder / "workspace"),
        build_(workspace_ / "build"),
        runner_({.environment = context.settings.child_environment,
                 .logs = build_ / "logs",
                 .cancel_fd = context.cancel_fd}),
        arch_(context.venue.is_cpu() ? "" : "-arch=native") {}

  Result<EmittedCode> run(const fs::path& source) const {
    const std::string stem = source.stem().string();
    EmittedCode code{false, source.lexically_relative(workspace_).string(), ""};
    const std::string ptx = (build_ / (stem + ".ptx")).string();
    const std::string cubin = (build_ / (stem + ".cubin")).string();
    ASSAY_TRY(make_directories(build_.string()));
    if (source.extension() == ".cu") {
      ASSAY_TRY(code.text, call(stem, nvcc({"--ptx", "-o", ptx, source.string()})));
      if (!code.text.empty()) return code;
    }
    ASSAY_TRY(code.text, call(stem, nvcc({"--cubin", "-o", cubin, source.string()})));
    if (!code.text.empty()) return code;
    const fs::path dump = fs::path(nvcc_).parent_path() / "cuobjdump";
    std::error_code ignored;
    if (!fs::exists(dump, ignored)) {
      code.text = "compiled; no cuobjdump beside nvcc, so no machine code was written";
    } else {
      ASSAY_TRY(const lab::ProgramRun run,
                runner_.run("cuobjdump-" + stem, {dump.string(), "--dump-sass", cubin}, workspace_,
                            {}, kSeconds));
      if (run.failure) {
        code.text = run.reason;
        return code;
      }
      ASSAY_TRY(write_file_atomic((build_ / (stem + ".sass")).string(), run.out));
      code.text = fmt::format("build/{}.ptx, build/{}.sass", stem, stem);
      if (source.extension() == ".ptx") code.text = fmt::format("build/{}.sass", stem);
    }
    code.good = true;
    return code;
  }

 private:
  std::vector<std::string> nvcc(std::vector<std::string> words) const {
    if (!arch_.empty()) words.insert(words.begin(), arch_);
    words.insert(words.begin(), nvcc_);
    return words;
  }

  // Why it failed; empty where it did not.
  Result<std::string> call(const std::string& stem, const std::vector<std::string>& words) const {
    ASSAY_TRY(const lab::ProgramRun run,
              runner_.run("nvcc-" + stem, words, workspace_, {}, kSeconds));
    return run.failure ? run.reason : std::string();
  }

  std::string nvcc_;
  fs::path workspace_, build_;
  lab::ProgramRunner runner_;
  std::string arch_;
};

}  // namespace

Result<std::vector<EmittedCode>> emit_device_code(const Context& context, const LabPlace& place) {
  const std::vector<fs::path> sources = sources_below(place.target.folder / "workspace" / "ops");
  if (sources.empty())
    return std::vector<EmittedCode>{
        {true, "device code", "workspace/ops holds no .cu and no .ptx file"}};
  const std::string nvcc = context.settings.nvcc;
  if (nvcc.empty())
    return std::vector<EmittedCode>{
        {false, "nvcc", "is missing: install the CUDA toolkit, or name nvcc by CUDACXX"}};
  const Emitter emitter(context, place, nvcc);
  std::vector<EmittedCode> all;
  for (const fs::path& source : sources) {
    ASSAY_TRY(EmittedCode code, emitter.run(source));
    all.push_back(std::move(code));
  }
  return all;
}

Result<std::string> objection_to_ptx(const Context& context, const fs::path& source,
                                     const std::string& arch) {
  const fs::path ptxas = fs::path(context.settings.nvcc).parent_path() / "ptxas";
  if (context.settings.nvcc.empty() || !is_program(ptxas.string()))
    return fail(ErrorCode::unsupported,
                "no ptxas is here: whether it can be assembled is seen on a GPU");
  SubprocessOptions options;
  options.argv = {ptxas.string(), "-arch=" + arch, "-o", "/dev/null", source.string()};
  options.env = context.settings.child_environment;
  ASSAY_TRY(const CommandOutput output,
            run_command(options, {.timeout_ns = static_cast<int64_t>(kSeconds * 1e9),
                                  .cancel_fd = context.cancel_fd}));
  if (output.status.success()) return std::string();
  const std::string error = first_ptxas_error(source, output.err);
  if (!error.empty()) return error;
  return fmt::format("ptxas {}: {}", output.status.describe(), sanitize(trim(output.err), 300));
}

}  // namespace assay::cli
