#include "tests/cli/script.h"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"

namespace assay::cli_tests {
namespace {

constexpr std::int64_t kWatchdog = 180 * kNsPerSecond;
constexpr size_t kShownBytes = 4000;

std::string one_spaced(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (space && (out.empty() || out.back() == ' ')) continue;
    out += space ? ' ' : c;
  }
  return out;
}

std::string tail(const std::string& text) {
  return text.size() <= kShownBytes ? text : "..." + text.substr(text.size() - kShownBytes);
}

// The program by the name that users type, a home of its own, and nothing else from outside.
std::vector<std::string> environment(const std::string& folder) {
  const char* path = std::getenv("PATH");
  return {fmt::format("PATH={}/bin:{}", folder, path == nullptr ? "/usr/bin:/bin" : path),
          "HOME=" + folder + "/home",
          "ASSAY_CACHE_DIR=" + folder + "/cache",
          "ASSAY_LOCK_DIR=" + folder + "/locks",
          "TMPDIR=" + folder + "/tmp",
          "TERM=dumb",
          "LANG=C.UTF-8"};
}

class Runner {
 public:
  Runner(const Script& script, const std::string& folder)
      : script_(script), folder_(folder), work_(folder + "/work") {}

  std::vector<std::string> run() {
    for (const Step& step : script_.steps) {
      for (const auto& [name, text] : step.files) make_file(step.line, name, text);
      if (!step.command.empty()) run(step);
      if (!failures_.empty()) break;  // What follows builds on it.
    }
    return std::move(failures_);
  }

 private:
  void fails(int line, const std::string& what) {
    failures_.push_back(fmt::format("{}:{}: {}", script_.path, line, what));
  }

  void make_file(int line, const std::string& name, const std::string& text) {
    const std::filesystem::path path = std::filesystem::path(work_) / name;
    Status made = make_directories(path.parent_path().string());
    if (made) made = write_file_atomic(path.string(), text);
    if (!made) fails(line, made.error().message);
  }

  void run(const Step& step) {
    SubprocessOptions options;
    options.argv = {"sh", "-c", step.command};
    options.env = environment(folder_);
    options.working_directory = work_;
    CommandLimits limits;
    limits.timeout_ns = kWatchdog;
    limits.max_output = 16 << 20;
    const auto output = run_command(options, limits);
    if (!output) return fails(step.line, output.error().message);
    if (output->timed_out) return fails(step.line, "did not end in time");
    bool code_expected = false;
    const size_t before = failures_.size();
    for (const Expectation& expectation : step.expectations) {
      code_expected |= expectation.kind == "exit";
      check(expectation, *output);
    }
    if (!code_expected) check_code(step.line, "0", *output);
    if (failures_.size() == before) return;
    failures_.back() += fmt::format("\n$ {}\n--- stdout\n{}\n--- stderr\n{}", step.command,
                                    tail(output->out), tail(output->err));
  }

  void check_code(int line, const std::string& wanted, const CommandOutput& output) {
    const std::string code = output.status.kind == ExitStatus::Kind::exited
                                 ? fmt::to_string(output.status.code)
                                 : output.status.describe();
    if (code != wanted) fails(line, fmt::format("the exit code is {}, expected {}", code, wanted));
  }

  void check(const Expectation& wanted, const CommandOutput& output) {
    const auto& [line, kind, text] = wanted;
    if (kind == "exit") return check_code(line, text, output);
    if (kind == "json") return check_json(line, text, output.out);
    if (kind == "exists" || kind == "absent") {
      std::error_code ignored;
      if (std::filesystem::exists(std::filesystem::path(work_) / text, ignored) !=
          (kind == "exists"))
        fails(line, fmt::format("{} {}", text, kind == "exists" ? "is not there" : "is there"));
      return;
    }
    const bool wants = !kind.ends_with('!');
    if (holds(kind.starts_with("out") ? output.out : output.err, text) != wants)
      fails(line,
            fmt::format("{} {} '{}'", kind.substr(0, 3), wants ? "does not hold" : "holds", text));
  }

  void check_json(int line, const std::string& text, const std::string& out) {
    const auto root = parse_json(out, "stdout");
    if (!root) return fails(line, root.error().message);
    if (text.empty()) return;
    const auto space = text.find(' ');
    const std::string pointer = text.substr(0, space);
    const std::string wanted = space == std::string::npos ? "*" : text.substr(space + 1);
    try {
      const Json& found = root->at(Json::json_pointer(pointer));
      if (wanted != "*" && canonical(found) != canonical(Json::parse(wanted)))
        fails(line, fmt::format("{} is {}, expected {}", pointer, canonical(found), wanted));
    } catch (const Json::exception& error) {
      fails(line, error.what());
    }
  }

  const Script& script_;
  std::string folder_, work_;
  std::vector<std::string> failures_;
};

bool is_expectation(const std::string& word) {
  for (const char* known : {"exit", "out", "out!", "err", "err!", "json", "exists", "absent"})
    if (word == known) return true;
  return false;
}

}  // namespace

bool holds(std::string_view text, std::string_view pattern) {
  const std::string haystack = one_spaced(text);
  const std::string wanted = one_spaced(pattern);
  size_t at = 0;
  for (const std::string_view part : split(wanted, '*')) {
    const std::string_view words = trim(part);
    const size_t found = haystack.find(words, at);
    if (found == std::string::npos) return false;
    at = found + words.size();
  }
  return true;
}

Result<Script> read_script(const std::string& path) {
  ASSAY_TRY(const std::string text, read_file(path));
  Script script;
  script.path = path;
  int number = 0;
  bool ended = true;  // The last step has its expectations, or none was begun.
  std::string* open_file = nullptr;
  for (const std::string_view raw : split(text, '\n')) {
    ++number;
    const std::string line(raw);
    if (open_file != nullptr && line.starts_with('|')) {
      *open_file += line.substr(line.starts_with("| ") ? 2 : 1) + '\n';
      continue;
    }
    open_file = nullptr;
    if (trim(line).empty() || line[0] == '#') continue;
    if (line.starts_with("  ") && !script.steps.empty() &&
        script.steps.back().expectations.empty()) {
      script.steps.back().command += " " + std::string(trim(line));
      continue;
    }
    const auto space = line.find(' ');
    const std::string word = line.substr(0, space);
    const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
    if (word == "$" || word == "file") {
      if (ended || !script.steps.back().command.empty())
        script.steps.push_back({number, "", {}, {}});
      ended = false;
      Step& step = script.steps.back();
      step.line = number;
      if (word == "$") {
        step.command = rest;
      } else {
        open_file = &step.files.emplace_back(rest, "").second;
      }
    } else if (is_expectation(word) && !script.steps.empty() &&
               !script.steps.back().command.empty()) {
      script.steps.back().expectations.push_back({number, word, rest});
    } else {
      return fail(ErrorCode::invalid_input, "{}:{}: '{}' is not understood", path, number, line);
    }
  }
  return script;
}

std::vector<std::string> run_script(const Script& script, const std::string& program) {
  const auto folder = TemporaryDirectory::create("/tmp", "assay-cli-");
  if (!folder) return {folder.error().message};
  for (const char* name : {"bin", "work", "home", "tmp"}) {
    if (const Status made = make_directories(folder->file(name)); !made)
      return {made.error().message};
  }
  std::error_code error;
  std::filesystem::create_symlink(std::filesystem::absolute(program), folder->file("bin/assay"),
                                  error);
  if (error) return {error.message()};
  return Runner(script, folder->path()).run();
}

}  // namespace assay::cli_tests
