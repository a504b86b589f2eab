#include "assay/process/waiting_thread.h"

#include <charconv>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/clock.h"

namespace assay::sweep {
namespace {

// From telling something to waiting for the answer takes a thread a few microseconds on a core of
// its own; on ours it waits by the time that we run.
constexpr int64_t kPatienceNs = kNsPerMs / 2;

UniqueFd open_of(pid_t process, const char* file) {
  const std::string path = fmt::format("/proc/{0}/task/{0}/{1}", process, file);
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

// The thread's name stands in parentheses and may hold any character.
char state_in(std::string_view stat) {
  const size_t end = stat.rfind(')');
  return end != stat.npos && end + 2 < stat.size() ? stat[end + 2] : '\0';
}

std::string_view read_into(char (&text)[1024], int fd) {
  const ssize_t got = ::pread(fd, text, sizeof text, 0);
  return {text, got > 0 ? static_cast<size_t>(got) : 0};
}

}  // namespace

int64_t WaitingThread::processor_time(pid_t process, Of of) {
  if (process != process_) {
    process_ = process;
    state_ = open_of(process, "stat");
    time_ = open_of(process, "schedstat");
  }
  if (!state_ || !time_) return -1;
  char text[1024];
  const int64_t until_ns = monotonic_ns() + kPatienceNs;
  while (of == Of::asleep && state_in(read_into(text, state_.get())) != 'S')
    if (monotonic_ns() > until_ns) return -1;
  const std::string_view times = read_into(text, time_.get());
  int64_t ran_ns = -1;
  const auto [end, error] = std::from_chars(times.data(), times.data() + times.size(), ran_ns);
  return error == std::errc() ? ran_ns : -1;
}

}  // namespace assay::sweep
