#include "assay/base/own_children.h"

#include <cstdlib>
#include <dirent.h>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/file.h"

namespace assay {

std::vector<pid_t> own_children() {
  std::vector<pid_t> children;
  DIR* processes = ::opendir("/proc");
  if (processes == nullptr) return children;
  while (const dirent* entry = ::readdir(processes)) {
    const auto pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (pid <= 0) continue;
    const auto text = read_file(fmt::format("/proc/{}/stat", pid), 4096);
    // "PID (name) S PPID ...": the name may hold anything.
    const auto name_end = text ? text->rfind(')') : std::string::npos;
    if (name_end == std::string::npos || name_end + 4 >= text->size()) continue;
    if (std::strtol(text->c_str() + name_end + 4, nullptr, 10) == ::getpid())
      children.push_back(pid);
  }
  ::closedir(processes);
  return children;
}

}  // namespace assay
