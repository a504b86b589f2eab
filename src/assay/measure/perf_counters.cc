#include "assay/measure/perf_counters.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/fd.h"
#include "assay/base/file.h"
#include "assay/base/text.h"

namespace assay::measure {
namespace {

constexpr std::uint64_t cache_event(std::uint64_t cache) {
  return cache | (PERF_COUNT_HW_CACHE_OP_READ << 8) | (PERF_COUNT_HW_CACHE_RESULT_MISS << 16);
}

struct Asked {
  const char* name;
  std::uint32_t type;
  std::uint64_t config;
};
constexpr std::array<Asked, 5> kAsked = {{
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"l1d_misses", PERF_TYPE_HW_CACHE, cache_event(PERF_COUNT_HW_CACHE_L1D)},
    {"llc_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"dtlb_misses", PERF_TYPE_HW_CACHE, cache_event(PERF_COUNT_HW_CACHE_DTLB)},
}};

// Of this process as it counts them itself: in a process namespace /proc may show other numbers,
// and the last one of NSpid is ours.
std::vector<pid_t> own_threads() {
  std::vector<pid_t> threads;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
    const auto text = read_file((entry.path() / "status").string(), 1 << 16);
    if (!text) continue;
    for (const std::string_view line : split(*text, '\n')) {
      if (!line.starts_with("NSpid:")) continue;
      const std::string last(trim(line.substr(line.find_last_of("\t ") + 1)));
      if (const long id = std::strtol(last.c_str(), nullptr, 10); id > 0)
        threads.push_back(static_cast<pid_t>(id));
    }
  }
  return threads;
}

Result<UniqueFd> open_event(const Asked& asked, pid_t thread, const PerfSurroundings& around) {
  perf_event_attr attributes;
  std::memset(&attributes, 0, sizeof attributes);
  attributes.size = sizeof attributes;
  attributes.type = asked.type;
  attributes.config = asked.config;
  attributes.disabled = 1;
  attributes.inherit = 1;  // Threads that this one starts while it is counted.
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  UniqueFd fd(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!fd) return fail(ErrorCode::unsupported, "{}", why_no_counter(errno, around));
  return fd;
}

std::int64_t page_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

}  // namespace

struct PerfCounters::Event {
  std::string name;
  std::vector<UniqueFd> threads;
  std::string unavailable;
};

PerfCounters::PerfCounters() = default;
PerfCounters::~PerfCounters() = default;
PerfCounters::PerfCounters(PerfCounters&&) noexcept = default;

PerfCounters PerfCounters::open() {
  PerfCounters counters;
  const PerfSurroundings around = read_perf_surroundings();
  const std::vector<pid_t> threads = own_threads();
  for (const Asked& asked : kAsked) {
    Event& event = counters.events_.emplace_back();
    event.name = asked.name;
    if (threads.empty()) event.unavailable = "/proc does not show this process's threads";
    for (const pid_t thread : threads) {
      auto fd = open_event(asked, thread, around);
      if (fd) {
        event.threads.push_back(std::move(*fd));
        continue;
      }
      event.unavailable = fd.error().message;
      event.threads.clear();
      break;
    }
  }
  return counters;
}

void PerfCounters::start() {
  faults_before_ = page_faults();
  for (const Event& event : events_)
    for (const UniqueFd& fd : event.threads) ::ioctl(fd.get(), PERF_EVENT_IOC_ENABLE, 0);
}

void PerfCounters::stop() {
  for (const Event& event : events_)
    for (const UniqueFd& fd : event.threads) ::ioctl(fd.get(), PERF_EVENT_IOC_DISABLE, 0);
  faults_ += page_faults() - faults_before_;
}

std::vector<EventCount> PerfCounters::counts() const {
  std::vector<EventCount> counts;
  for (const Event& event : events_) {
    EventCount& count = counts.emplace_back(EventCount{event.name, 0, event.unavailable});
    bool ran = false, asked = false;
    for (const UniqueFd& fd : event.threads) {
      std::uint64_t values[3] = {};  // Count, time enabled, time running.
      if (::read(fd.get(), values, sizeof values) != static_cast<ssize_t>(sizeof values)) continue;
      asked |= values[1] > 0;
      if (values[2] == 0) continue;
      ran = true;
      count.count += static_cast<double>(values[0]) * static_cast<double>(values[1]) /
                     static_cast<double>(values[2]);
    }
    if (count.unavailable.empty() && !ran)
      count.unavailable = asked ? "the processor's counters were in use all the time"
                                : "nothing ran while it was counted";
  }
  counts.push_back({"page_faults", static_cast<double>(faults_), ""});
  return counts;
}

double measure_clock_hz() {
#if defined(__x86_64__)
  constexpr int kSteps = 20'000, kRepeats = 5;
  constexpr double kCycles = 3.0 * 10 * kSteps;
  double best = 0;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    std::uint64_t value = 3;
    const std::int64_t start = monotonic_ns();
    for (int step = 0; step < kSteps; ++step)
      asm volatile(
          "imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0\n\t"
          "imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0"
          : "+r"(value)
          :
          : "cc");
    const std::int64_t ns = monotonic_ns() - start;
    if (ns > 0) best = std::max(best, kCycles / static_cast<double>(ns) * 1e9);
  }
  return best;
#else
  return 0;
#endif
}

PerfSurroundings read_perf_surroundings() {
  PerfSurroundings around;
  if (const auto text = read_file("/proc/sys/kernel/perf_event_paranoid", 64))
    around.paranoid = std::string(trim(*text));
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator("/sys/bus/event_source/devices", error))
    around.has_pmu |= entry.path().filename().string().starts_with("cpu");
  if (const auto text = read_file("/proc/cpuinfo", 16 << 20))
    around.is_virtual = text->find(" hypervisor") != std::string::npos;
  return around;
}

std::string why_no_counter(int error, const PerfSurroundings& around) {
  switch (error) {
    case EACCES:
    case EPERM:
      if (around.paranoid.empty() || std::atoi(around.paranoid.c_str()) <= 2)
        return "the system refuses it, as a container's filter does";
      return fmt::format(
          "/proc/sys/kernel/perf_event_paranoid is {}; with 2 or less a process may count itself",
          around.paranoid);
    case ENOSYS:
      return "this system has no perf_event_open";
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
      if (around.has_pmu) return "this processor does not count it";
      return around.is_virtual ? "this virtual machine shows no performance counters (no PMU)"
                               : "this processor shows no performance counters";
    case EMFILE:
      return "too many files are open to count every thread";
    default:
      return std::generic_category().message(error);
  }
}

}  // namespace assay::measure
