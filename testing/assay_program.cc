#include "testing/assay_program.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdexcept>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/clock.h"

namespace assay::testing {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr)
    throw std::runtime_error(fmt::format("{} is not set: run these tests by ctest", name));
  return value;
}

// The program: ctest says where it is; without it, beside this test or one folder up.
std::string program() {
  if (std::getenv("ASSAY_BINARY") != nullptr) return environment("ASSAY_BINARY");
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& path : {folder / "assay", folder.parent_path() / "assay"})
    if (fs::exists(path)) return path;
  return environment("ASSAY_BINARY");
}

std::string content(const std::string& path) { return read_file(path).value_or(std::string()); }

// Of a file under /proc, which has no size and may go while it is read.
std::string proc_text(const fs::path& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char text[1024];
  const ssize_t got = file ? ::read(file.get(), text, sizeof text) : -1;
  return got > 0 ? std::string(text, static_cast<size_t>(got)) : std::string();
}

struct ProcessFacts {
  char state = 0;
  pid_t parent = 0, session = 0;
  bool alive() const { return state != 'Z' && state != 'X'; }
};

// Of "PID (name) S ppid pgrp session ...".
std::optional<ProcessFacts> facts_of(pid_t pid) {
  const std::string stat = proc_text(fmt::format("/proc/{}/stat", pid));
  const auto name_end = stat.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  ProcessFacts facts;
  int group = 0;
  if (std::sscanf(stat.c_str() + name_end + 1, " %c %d %d %d", &facts.state, &facts.parent, &group,
                  &facts.session) != 4)
    return std::nullopt;
  return facts;
}

// The child of ours that a process descends from: itself, or none where its parents are gone.
pid_t child_of_ours(pid_t pid) {
  while (pid > 1) {
    const auto facts = facts_of(pid);
    if (!facts) return 0;
    if (facts->parent == ::getpid()) return pid;
    pid = facts->parent;
  }
  return 0;
}

}  // namespace

bool wait_until(const std::function<bool()>& holds, double seconds) {
  const int64_t deadline = monotonic_ns() + static_cast<int64_t>(seconds * 1e9);
  while (!holds()) {
    if (monotonic_ns() > deadline) return false;
    ::poll(nullptr, 0, 1);
  }
  return true;
}

std::string unbroken(std::string_view text) {
  std::string one_line;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n';
    if (!space || one_line.empty() || one_line.back() != ' ') one_line += space ? ' ' : c;
  }
  return one_line;
}

std::string_view to_string(Rights rights) {
  return rights == Rights::own            ? "own"
         : rights == Rights::another_user ? "another_user"
                                          : "none_to_separate";
}

Running::Running(Subprocess process, std::string folder, std::string out_path, std::string err_path)
    : process_(std::move(process)),
      folder_(std::move(folder)),
      out_path_(std::move(out_path)),
      err_path_(std::move(err_path)),
      session_(process_.pid()) {}

Running::~Running() {
  if (session_ <= 0 || process_.pid() <= 0) return;
  for (const pid_t pid : session()) ::kill(pid, SIGKILL);
}

void Running::signal(int number) { ::kill(process_.pid(), number); }

Finished Running::wait() {
  Finished finished;
  const auto status = process_.wait(static_cast<int64_t>(kWatchdogSeconds * 1e9));
  if (status) finished.status = *status;
  finished.out = content(out_path_);
  finished.err = content(err_path_);
  return finished;
}

std::string Running::errors_so_far() const { return content(err_path_); }

std::vector<pid_t> Running::session() const {
  std::vector<pid_t> alive;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const pid_t pid = static_cast<pid_t>(std::atoi(entry.path().filename().c_str()));
    if (pid <= 0) continue;
    const auto facts = facts_of(pid);
    if (!facts || !facts->alive()) continue;
    // Workers have sessions of their own; what they leave behind stays in the folder, in which
    // other programs of ours may run too.
    std::error_code hidden;
    bool ours = facts->session == session_;
    if (!ours && fs::read_symlink(entry.path() / "cwd", hidden) == folder_) {
      const pid_t program = child_of_ours(pid);
      ours = program == 0 || program == session_;
    }
    if (ours) alive.push_back(pid);
  }
  return alive;
}

bool Running::leaves_nothing() const {
  return wait_until([&] { return session().empty(); }, 10);
}

AssayProgram::AssayProgram() : folder_(TemporaryDirectory::create("/tmp", "assay-test-").value()) {}

std::string AssayProgram::source(std::string_view path) {
  const char* folder = std::getenv("ASSAY_SOURCE_DIR");
  return fs::absolute(fs::path(folder == nullptr ? "." : folder) / path).string();
}

Running AssayProgram::start(std::vector<std::string> words,
                            std::vector<std::string> wrapper) const {
  const int number = ++runs_;
  SubprocessOptions options;
  // A session of its own; setsid executes in place, since the child leads no group.
  options.argv = {"setsid"};
  options.argv.insert(options.argv.end(), wrapper.begin(), wrapper.end());
  options.argv.push_back(program());
  options.argv.insert(options.argv.end(), words.begin(), words.end());
  options.new_process_group = false;
  options.working_directory = folder();
  const char* path = std::getenv("PATH");
  options.env = {fmt::format("PATH={}", path == nullptr ? "/usr/bin:/bin" : path),
                 "HOME=" + folder(), "ASSAY_CACHE_DIR=" + file("cache"),
                 "ASSAY_LOCK_DIR=" + file("locks")};
  const std::string out_path = file(fmt::format("{}.out", number));
  const std::string err_path = file(fmt::format("{}.err", number));
  const UniqueFd out(::open(out_path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666));
  const UniqueFd err(::open(err_path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666));
  options.stdout_to = Redirect::fd(out.get());
  options.stderr_to = Redirect::fd(err.get());
  auto process = Subprocess::start(options);
  if (!process) throw std::runtime_error(process.error().message);
  return Running(std::move(*process), folder(), out_path, err_path);
}

std::optional<std::vector<std::string>> AssayProgram::with(Rights rights) const {
  constexpr uid_t kNobody = 65534;
  std::vector<std::string> wrapper;
  if (rights == Rights::another_user) {
    if (::chown(folder().c_str(), kNobody, kNobody) != 0) return std::nullopt;
    wrapper = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
  }
  if (rights == Rights::none_to_separate) {
    // In a user namespace that allows no further one; there root's rights are taken away.
    wrapper = {"unshare",
               "--user",
               "--map-root-user",
               "sh",
               "-c",
               "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all "
               "--bounding-set=-all \"$@\"",
               "sh"};
  }
  // It may not be able to run the program at all.
  if (!wrapper.empty() && run({"version"}, wrapper).code() != 0) return std::nullopt;
  return wrapper;
}

Finished AssayProgram::run(std::vector<std::string> words, std::vector<std::string> wrapper) const {
  Running running = start(std::move(words), std::move(wrapper));
  return running.wait();
}

int JournalText::count(std::string_view kind) const {
  return static_cast<int>(std::count_if(lines.begin(), lines.end(), [&](const Json& line) {
    return line.value("line", std::string()) == kind;
  }));
}

JournalText read_journal(const std::string& run_folder) {
  const std::string text = content(run_folder + "/journal.jsonl");
  JournalText journal;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = text.find('\n', at);
    if (end == std::string::npos) {
      journal.torn = true;
      break;
    }
    journal.lines.push_back(Json::parse(text.substr(at, end - at), nullptr, false));
    at = end + 1;
  }
  return journal;
}

int journal_lines(const std::string& run_folder) {
  const std::string text = content(run_folder + "/journal.jsonl");
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

const KernelOutcome* find_kernel(const ProblemRecord& problem, std::string_view name) {
  const auto found = std::find_if(problem.kernels.begin(), problem.kernels.end(),
                                  [&](const KernelOutcome& kernel) { return kernel.name == name; });
  return found == problem.kernels.end() ? nullptr : &*found;
}

std::string endings_of(const std::string& record_path) {
  const auto record = load_record(record_path);
  if (!record) return record.error().message;
  std::string lines;
  for (const ProblemRecord& problem : record->problems)
    for (const KernelOutcome& kernel : problem.kernels)
      lines += problem.name + " " + kernel.name + ": " + ending_sentence(kernel.ending) + "\n";
  return lines;
}

}  // namespace assay::testing
