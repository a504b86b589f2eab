#include "cli/flags/profiler_flags.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/profiler/question.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kName = "cutlass_profiler";

Status check_program(const std::string& from, const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const std::string shown = sanitize(path.string(), 300);
  if (!fs::exists(status))
    return fail(ErrorCode::invalid_input,
                "{}: there is no '{}'; scripts/build-cutlass-profiler builds one", from, shown);
  if (!fs::is_regular_file(status))
    return fail(ErrorCode::invalid_input, "{}: '{}' is no file; name the program itself", from,
                shown);
  if (::access(path.c_str(), X_OK) != 0)
    return fail(ErrorCode::invalid_input, "{}: '{}' may not be executed; chmod +x it", from, shown);
  return {};
}

Result<std::string> along_the_path(const std::string& from, const std::string& name,
                                   const Settings& settings) {
  const std::string found = find_along_path(name, settings.child_environment);
  if (!found.empty()) return fs::absolute(found).lexically_normal().string();
  return fail(ErrorCode::invalid_input,
              "{}: there is no {} along the PATH; name one by --profiler-bin or "
              "CUTLASS_PROFILER_BIN, or build one: scripts/build-cutlass-profiler",
              from, sanitize(name, 200));
}

}  // namespace

void ProfilerFlags::declare(Flags& app) {
  app.set_group(FlagGroup::more);
  app.add_flag("--profiler", asked,
               "Let a cutlass_profiler time its kernels instead of racing. Its results are "
               "unproven (docs/cutlass-profiler.md)");
  app.add_option("--profiler-bin", binary,
                 "The cutlass_profiler to run; implies --profiler (default: "
                 "CUTLASS_PROFILER_BIN, else the one on the PATH)")
      .type_name("FILE");
  app.add_option("--extra-profiler-flags", extra,
                 "With --profiler: flags to hand on, as one word: '--sleep-duration=0 "
                 "--warmup-iterations=5'")
      .type_name("FLAGS")
      .several_words(false);
  app.add_option("--profiler-timeout", timeout,
                 "With --profiler: how long it may be silent before it counts as hung")
      .type_name("TIME")
      .show_default();
}

Result<std::string> ProfilerFlags::find(const Settings& settings) const {
  const std::string& named = binary.empty() ? settings.cutlass_profiler : binary;
  const std::string from = !binary.empty()  ? "--profiler-bin"
                           : !named.empty() ? "CUTLASS_PROFILER_BIN"
                                            : "--profiler";
  const std::string name = named.empty() ? std::string(kName) : named;
  std::error_code error;
  if (name.find('/') == std::string::npos && !fs::exists(name, error))
    return along_the_path(from, name, settings);
  const fs::path path = fs::absolute(name).lexically_normal();
  ASSAY_TRY(check_program(from, path));
  return path.string();
}

Result<std::vector<std::string>> ProfilerFlags::flags(
    Console& console, const std::vector<std::string>& kernels) const {
  std::vector<std::string> flags;
  for (const std::string& words : extra) {
    for (const std::string_view word : split(words, ' '))
      if (const std::string_view flag = trim(word); !flag.empty()) flags.emplace_back(flag);
  }
  if (const Status fine = profiler::check_flags(flags); !fine)
    return fail(ErrorCode::invalid_input, "--extra-profiler-flags: {}", fine.error().message);
  for (const std::string& flag : profiler::unknown_flags(flags))
    console.note("--extra-profiler-flags: " + flag);
  for (const std::string& kernel : kernels) {
    std::error_code error;
    if (fs::exists(kernel, error))
      return fail(ErrorCode::invalid_input,
                  "--kernels: '{}' is a file; with --profiler these are names of its kernels, and "
                  "your own take no part (leave --profiler out, or race them)",
                  sanitize(kernel, 300));
    if (kernel.find_first_of(" \t\n") != std::string::npos)
      return fail(ErrorCode::invalid_input, "--kernels: '{}' is no kernel's name",
                  sanitize(kernel, 300));
  }
  if (!kernels.empty()) flags.push_back("--kernels=" + join(kernels, ","));
  return flags;
}

Status ProfilerFlags::refuse_those_of_a_race(const std::vector<std::string>& words) {
  // All others are: one that is new, too.
  static constexpr std::array<std::string_view, 24> kOfBoth = {
      "--suite",    "--shapes",   "--shape",        "--model",
      "--batch",    "--tp",       "--dtype",        "--kernels",
      "--provider", "--resume",   "--output-dir",   "--fresh",
      "--profiler", "--lock-dir", "--profiler-bin", "--extra-profiler-flags",
      "--no-wait",  "--device",   "--config",       "--profiler-timeout",
      "--json",     "--quiet",    "--verbose",      "--color"};
  bool is_value = false;  // Of --extra-profiler-flags: may look like a flag of ours.
  for (const std::string& word : words) {
    const std::string flag = word.substr(0, word.find('='));
    if (std::exchange(is_value, word == "--extra-profiler-flags")) continue;
    if (!flag.starts_with("--") || std::ranges::find(kOfBoth, flag) != kOfBoth.end()) continue;
    return fail(ErrorCode::invalid_input,
                "{} is about a race, and with --profiler there is none: cutlass_profiler is told "
                "by --extra-profiler-flags",
                flag);
  }
  return {};
}

}  // namespace assay::cli
