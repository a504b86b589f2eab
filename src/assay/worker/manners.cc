#include "assay/worker/manners.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/file.h"

namespace assay::sweep {
namespace {

// Children of this process that run, or could: one that has ended and waits to be reaped cannot.
int count_children() {
  int children = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto text = read_file((entry.path() / "stat").string(), 4096);
    // "PID (name) STATE PPID ...": the name may hold anything.
    const auto name_end = text ? text->rfind(')') : std::string::npos;
    if (name_end == std::string::npos || name_end + 4 >= text->size()) continue;
    if ((*text)[name_end + 2] == 'Z') continue;
    children += std::strtol(text->c_str() + name_end + 4, nullptr, 10) == ::getpid() ? 1 : 0;
  }
  return children;
}

}  // namespace

bool has_children() {
  siginfo_t ignored{};
  return ::waitid(P_ALL, 0, &ignored, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

Manners::File Manners::file_at(int descriptor) {
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0) return {};
  return {true, facts.st_dev, facts.st_ino};
}

Manners Manners::look() {
  Manners manners;
  for (int descriptor = 0; descriptor < 3; ++descriptor)
    manners.streams_[descriptor] = file_at(descriptor);
  return manners;
}

std::vector<std::string> Manners::find_faults(measure::SchedulerWatch& watch) const {
  std::vector<std::string> faults;
  if (!watch.wait_until_quiet(kRestNs))
    faults.emplace_back("a thread that it started is at work while nothing was asked of it");
  if (const int children = count_children(); children > 0)
    faults.push_back(fmt::format("{} process{} that it started {} on", children,
                                 children == 1 ? "" : "es", children == 1 ? "goes" : "go"));
  constexpr const char* kNames[] = {"standard input", "standard output", "standard error"};
  for (int descriptor = 0; descriptor < 3; ++descriptor) {
    const File now = file_at(descriptor);
    if (!(now == streams_[descriptor]))
      faults.push_back(
          fmt::format("it {} {}", now.open ? "replaced" : "closed", kNames[descriptor]));
  }
  return faults;
}

}  // namespace assay::sweep
