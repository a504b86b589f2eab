#include "assay/load/client_health.h"

#include <ctime>
#include <sstream>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/file.h"

namespace assay::load {
namespace {

std::int64_t thread_cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * kNsPerSecond + time.tv_nsec;
}

// /proc/stat: "cpu user nice system idle iowait irq softirq steal ...", in ticks.
void read_machine(double& steal_s, double& all_s) {
  const auto text = read_file("/proc/stat", 1 << 20);
  if (!text) return;
  std::istringstream words(*text);
  std::string name;
  words >> name;
  const double ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  double sum = 0, value = 0;
  for (int field = 0; field < 8 && words >> value; ++field) {
    sum += value;
    if (field == 7) steal_s = value / ticks;
  }
  all_s = sum / ticks;
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

void HealthWatch::start() {
  cpu_ns_ = thread_cpu_ns();
  wall_ns_ = monotonic_ns();
  read_machine(steal_s_, machine_s_);
}

void HealthWatch::stop(ClientHealth& health) const {
  health.cpu_s = static_cast<double>(thread_cpu_ns() - cpu_ns_) / kNsPerSecond;
  health.wall_s = static_cast<double>(monotonic_ns() - wall_ns_) / kNsPerSecond;
  double steal_s = steal_s_, machine_s = machine_s_;
  read_machine(steal_s, machine_s);
  health.steal_s = steal_s - steal_s_;
  health.machine_s = machine_s - machine_s_;
}

void judge_health(ClientHealth& health) {
  const auto add = [&](std::string sentence) { health.reasons.push_back(std::move(sentence)); };
  const double late =
      share(static_cast<double>(health.late_sends), static_cast<double>(health.sends));
  if (late > kMostLateShare)
    add(fmt::format("{:.1f} % of requests were sent more than 1 ms after they were due",
                    100 * late));
  if (health.loop_lag_ms && health.loop_lag_ms->p99 > kMostLoopLagMs)
    add(fmt::format("bytes waited {:.1f} ms for the client at p99", health.loop_lag_ms->p99));
  if (const double cpu = share(health.cpu_s, health.wall_s); cpu > kMostCpuShare)
    add(fmt::format("the client used {:.0f} % of a core", 100 * cpu));
  if (health.ran_out) add("no descriptor or port was left for a connection");
  if (const double steal = share(health.steal_s, health.machine_s); steal > kMostStealShare)
    add(fmt::format("the hypervisor took {:.1f} % of the processor's time", 100 * steal));
  health.limited = !health.reasons.empty();
}

}  // namespace assay::load
