#include "assay/measure/scheduler_watch.h"

#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <set>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/clock.h"

namespace assay::measure {
namespace {

// The start of a file under /proc, or empty. Offset 0 each time: the kernel makes it anew.
std::string_view read_start(int fd, char* buffer, size_t capacity) {
  const ssize_t got = ::pread(fd, buffer, capacity - 1, 0);
  if (got <= 0) return {};
  buffer[got] = '\0';
  return {buffer, static_cast<size_t>(got)};
}

UniqueFd open_read(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

// Second field of schedstat: nanoseconds that the thread was runnable and not running.
int64_t run_delay(std::string_view text) {
  const auto space = text.find(' ');
  return space == std::string_view::npos ? -1 : std::strtoll(text.data() + space + 1, nullptr, 10);
}

// Eighth number of the line "cpu ...".
int64_t steal_of(std::string_view text) {
  if (text.substr(0, 4) != "cpu ") return 0;
  const char* at = text.data() + 4;
  int64_t value = 0;
  for (int field = 0; field < 8; ++field) {
    char* end = nullptr;
    value = std::strtoll(at, &end, 10);
    if (end == at) return 0;
    at = end;
  }
  return value;
}

// This thread as /proc counts it, which in a process namespace may be in another way than gettid().
pid_t own_number() {
  char target[64];
  const ssize_t size = ::readlink("/proc/thread-self", target, sizeof target - 1);
  if (size <= 0) return ::gettid();
  const std::string_view path(target, static_cast<size_t>(size));  // "PID/task/TID".
  return static_cast<pid_t>(
      std::strtol(std::string(path.substr(path.rfind('/') + 1)).c_str(), nullptr, 10));
}

}  // namespace

void SchedulerWatch::refresh() {
  if (!task_directory_) {
    task_directory_.reset(::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    machine_stat_ = open_read("/proc/stat");
  }
  const int copy = task_directory_ ? ::fcntl(task_directory_.get(), F_DUPFD_CLOEXEC, 0) : -1;
  DIR* directory = copy < 0 ? nullptr : ::fdopendir(copy);
  if (directory == nullptr) {
    if (copy >= 0) ::close(copy);
    return;
  }
  ::rewinddir(directory);
  std::set<pid_t> present;
  while (const dirent* entry = ::readdir(directory)) {
    const pid_t id = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (id <= 0) continue;
    present.insert(id);
    if (threads_.count(id) != 0) continue;
    Thread thread;
    thread.schedstat = open_read(fmt::format("/proc/self/task/{}/schedstat", id));
    thread.stat = open_read(fmt::format("/proc/self/task/{}/stat", id));
    if (thread.schedstat && thread.stat) threads_.emplace(id, std::move(thread));
  }
  ::closedir(directory);
  std::erase_if(threads_, [&](const auto& entry) { return present.count(entry.first) == 0; });
}

SchedulerWatch::Reading SchedulerWatch::read() {
  refresh();
  Reading reading;
  char buffer[512];
  for (const auto& [id, thread] : threads_) {
    const auto text = read_start(thread.schedstat.get(), buffer, sizeof buffer);
    if (const int64_t delay = run_delay(text); !text.empty() && delay >= 0) {
      reading.run_delay_ns[id] = delay;
      reading.readable = true;
    }
  }
  if (machine_stat_)
    reading.steal_ticks = steal_of(read_start(machine_stat_.get(), buffer, sizeof buffer));
  return reading;
}

SchedulerWatch::Waited SchedulerWatch::between(const Reading& before, const Reading& after) {
  Waited waited;
  waited.readable = before.readable && after.readable;
  waited.steal_ticks = after.steal_ticks - before.steal_ticks;
  for (const auto& [id, delay] : after.run_delay_ns) {
    const auto earlier = before.run_delay_ns.find(id);
    // A thread that began in between has waited all of its delay in between.
    const int64_t start = earlier == before.run_delay_ns.end() ? 0 : earlier->second;
    waited.longest_ns = std::max(waited.longest_ns, delay - start);
  }
  return waited;
}

bool SchedulerWatch::wait_until_quiet(int64_t limit_ns) {
  const int64_t deadline = monotonic_ns() + limit_ns;
  const pid_t self = own_number();
  char buffer[512];
  refresh();
  for (;;) {
    bool quiet = true;
    for (const auto& [id, thread] : threads_) {
      if (id == self) continue;
      // "TID (name) S ...": the name may hold anything, so look behind the last parenthesis.
      const auto text = read_start(thread.stat.get(), buffer, sizeof buffer);
      const auto name_end = text.rfind(')');
      if (name_end != std::string_view::npos && name_end + 2 < text.size() &&
          text[name_end + 2] == 'R')
        quiet = false;
    }
    if (quiet) return true;
    if (monotonic_ns() > deadline) return false;
    ::sched_yield();
  }
}

int SchedulerWatch::threads() {
  refresh();
  return static_cast<int>(threads_.size());
}

}  // namespace assay::measure
