#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <sched.h>
#include <set>
#include <sstream>
#include <string>
#include <unistd.h>

#include "assay/base/text.h"
#include "assay/device/cpu/cpu_device.h"

namespace assay::cpu {
namespace {

// Files of /proc and /sys have no size, so they are read to their end, within reason.
std::optional<std::string> read_small(const std::string& path, size_t most = 4 << 20) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text(most, '\0');
  file.read(text.data(), static_cast<std::streamsize>(most));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

std::optional<std::string> read_line(const std::string& path) {
  auto text = read_small(path, 1 << 16);
  if (!text) return std::nullopt;
  return std::string(trim(std::string_view(*text).substr(0, text->find('\n'))));
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

// "32K", "1024K", "32M" as the cache files write it.
size_t parse_size(std::string_view text) {
  size_t unit = 1;
  if (!text.empty() && text.back() == 'K') unit = size_t{1} << 10;
  if (!text.empty() && text.back() == 'M') unit = size_t{1} << 20;
  if (unit > 1) text.remove_suffix(1);
  return number<size_t>(text).value_or(0) * unit;
}

// "0-3,8,10-11": how many.
int count_list(std::string_view text) {
  int count = 0;
  for (std::string_view part : split(text, ',')) {
    const size_t dash = part.find('-');
    const auto first = number<int>(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number<int>(part.substr(dash + 1));
    if (first && last && *last >= *first) count += *last - *first + 1;
  }
  return count;
}

std::vector<int> affinity() {
  // The mask's size is not known beforehand: machines have more CPUs than cpu_set_t has bits.
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
    cpu_set_t* set = CPU_ALLOC(cpus);
    if (!set) break;
    const size_t bytes = CPU_ALLOC_SIZE(cpus);
    CPU_ZERO_S(bytes, set);
    std::vector<int> allowed;
    const bool fits = ::sched_getaffinity(0, bytes, set) == 0;
    for (int cpu = 0; fits && cpu < cpus; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, set)) allowed.push_back(cpu);
    }
    CPU_FREE(set);
    if (fits) return allowed;
  }
  return {};
}

struct CpuInfo {
  std::string model, vendor, microcode;
  std::map<int, std::string> core;  // Logical CPU -> "package:core".
};

CpuInfo read_cpuinfo(const std::string& root) {
  CpuInfo info;
  std::istringstream lines(read_small(root + "/proc/cpuinfo").value_or(""));
  int cpu = -1;
  std::string implementer, part;
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string_view key = trim(std::string_view(line).substr(0, colon));
    const std::string value(trim(std::string_view(line).substr(colon + 1)));
    const auto first = [&](std::string& field) {
      if (field.empty()) field = value;
    };
    if (key == "processor") {
      cpu = number<int>(value).value_or(-1);
      if (cpu >= 0) info.core[cpu];
    }
    if (key == "model name") first(info.model);
    if (key == "vendor_id") first(info.vendor);
    if (key == "microcode") first(info.microcode);
    if (key == "CPU implementer") first(implementer);
    if (key == "CPU part") first(part);
    if (cpu >= 0 && (key == "physical id" || key == "core id")) info.core[cpu] += value + ":";
  }
  if (info.model.empty() && !part.empty())
    info.model = "implementer " + implementer + " part " + part;
  if (info.vendor.empty()) info.vendor = implementer;
  if (info.model.empty()) info.model = "unknown CPU";
  return info;
}

struct CgroupLimits {
  double cpus = 0;  // 0: none.
  size_t memory = 0;
};

void lower(CgroupLimits& limits, double cpus, size_t memory) {
  if (cpus > 0 && (limits.cpus == 0 || cpus < limits.cpus)) limits.cpus = cpus;
  if (memory > 0 && (limits.memory == 0 || memory < limits.memory)) limits.memory = memory;
}

// A group's limit and those of every group above it. In a container the path is often the host's
// while the mount shows only our own group, so the mount's top counts too.
CgroupLimits read_cgroup(const std::string& root) {
  CgroupLimits limits;
  const std::string top = root + "/sys/fs/cgroup";
  const auto each_level = [](std::string path, const auto& visit) {
    while (path.size() > 1) {
      visit(path);
      path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
    visit(std::string());
  };
  std::istringstream lines(read_small(root + "/proc/self/cgroup").value_or("0::/\n"));
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (path.find("..") != std::string::npos) continue;
    if (controllers.empty()) {  // Version 2.
      each_level(path, [&](const std::string& group) {
        double cpus = 0;
        std::istringstream quota(read_line(top + group + "/cpu.max").value_or("max"));
        double granted = 0, period = 0;
        if (quota >> granted >> period && period > 0) cpus = granted / period;
        const auto memory = number<size_t>(read_line(top + group + "/memory.max").value_or("max"));
        lower(limits, cpus, memory.value_or(0));
      });
      continue;
    }
    const auto names = split(controllers, ',');
    const auto has = [&](std::string_view name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (!has("cpu") && !has("memory")) continue;
    const std::string mount = top + "/" + controllers;
    each_level(path, [&](const std::string& group) {
      const auto granted =
          number<double>(read_line(mount + group + "/cpu.cfs_quota_us").value_or(""));
      const auto period =
          number<double>(read_line(mount + group + "/cpu.cfs_period_us").value_or(""));
      const auto memory =
          number<size_t>(read_line(mount + group + "/memory.limit_in_bytes").value_or(""));
      // Version 1 writes "no limit" as the largest multiple of a page.
      const bool limited = memory && *memory < size_t{1} << 62;
      lower(limits, granted && period && *granted > 0 && *period > 0 ? *granted / *period : 0,
            limited ? *memory : 0);
    });
  }
  return limits;
}

void read_caches(const std::string& root, const TopologySource& source, Topology& topology) {
  std::set<std::string> thirds;
  for (size_t at = 0; at < topology.physical_cores.size(); ++at) {
    const std::string cpu = root + "/sys/devices/system/cpu/cpu" +
                            std::to_string(topology.physical_cores[at]) + "/cache/index";
    for (int index = 0; index < 16; ++index) {
      const std::string cache = cpu + std::to_string(index);
      const auto level = read_line(cache + "/level");
      if (!level) break;
      const size_t bytes = parse_size(read_line(cache + "/size").value_or(""));
      const std::string type = read_line(cache + "/type").value_or("");
      if (type == "Instruction") continue;
      if (*level == "1" && at == 0) topology.l1d_bytes = bytes;
      if (*level == "2" && at == 0) topology.l2_bytes = bytes;
      if (*level != "3") continue;
      if (at == 0) topology.l3_instance_bytes = bytes;
      // Without a list of sharers, one cache is assumed for all.
      if (thirds.insert(read_line(cache + "/shared_cpu_list").value_or("")).second) {
        topology.l3_bytes += bytes;
      }
    }
  }
  if (!source.ask_system) return;
  const auto ask = [](size_t& bytes, int name) {
    const long answer = bytes == 0 ? ::sysconf(name) : 0;
    if (answer > 0) bytes = static_cast<size_t>(answer);
  };
#ifdef _SC_LEVEL1_DCACHE_SIZE
  ask(topology.l1d_bytes, _SC_LEVEL1_DCACHE_SIZE);
  ask(topology.l2_bytes, _SC_LEVEL2_CACHE_SIZE);
  ask(topology.l3_bytes, _SC_LEVEL3_CACHE_SIZE);
#endif
  if (topology.l3_instance_bytes == 0) topology.l3_instance_bytes = topology.l3_bytes;
}

size_t read_memory(const std::string& root, const TopologySource& source) {
  std::istringstream lines(read_small(root + "/proc/meminfo").value_or(""));
  for (std::string word; lines >> word;) {
    size_t kilobytes = 0;
    if (word == "MemTotal:" && lines >> kilobytes) return kilobytes << 10;
  }
  if (!source.ask_system) return 0;
  const long pages = ::sysconf(_SC_PHYS_PAGES), bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(bytes) : 0;
}

}  // namespace

Topology read_topology(const TopologySource& source) {
  const std::string& root = source.root;
  Topology topology;
  const CpuInfo info = read_cpuinfo(root);
  topology.model = info.model;
  topology.vendor = info.vendor;
  topology.microcode = info.microcode;

  std::vector<int> allowed = source.allowed.empty() ? affinity() : source.allowed;
  if (allowed.empty()) allowed.push_back(0);

  topology.machine_logical =
      count_list(read_line(root + "/sys/devices/system/cpu/online").value_or(""));
  if (topology.machine_logical < 1) topology.machine_logical = static_cast<int>(info.core.size());
  if (topology.machine_logical < 1) topology.machine_logical = static_cast<int>(allowed.size());

  // CPUs that share a core name the same siblings. Where neither /sys nor /proc tells, each CPU is
  // taken for a core: too many rather than none.
  std::set<std::string> seen;
  for (int cpu : allowed) {
    const std::string folder =
        root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    auto siblings = read_line(folder + "core_cpus_list");
    if (!siblings) siblings = read_line(folder + "thread_siblings_list");
    if (!siblings || siblings->empty()) {
      const auto known = info.core.find(cpu);
      const bool tells = known != info.core.end() && !known->second.empty();
      siblings = tells ? "core " + known->second : "cpu " + std::to_string(cpu);
    }
    if (seen.insert(*siblings).second) topology.physical_cores.push_back(cpu);
  }

  const CgroupLimits limits = read_cgroup(root);
  topology.cpu_quota = limits.cpus;
  topology.logical = static_cast<int>(allowed.size());
  if (limits.cpus > 0) {
    // More threads than the quota would be stopped in the middle of a timed launch.
    const auto most = static_cast<size_t>(std::max(1.0, std::floor(std::min(limits.cpus, 1e6))));
    topology.logical = static_cast<int>(std::min(allowed.size(), most));
    if (topology.physical_cores.size() > most) topology.physical_cores.resize(most);
  }
  read_caches(root, source, topology);
  topology.memory_bytes = read_memory(root, source);
  if (limits.memory > 0 && (topology.memory_bytes == 0 || limits.memory < topology.memory_bytes)) {
    topology.memory_bytes = limits.memory;
  }
  return topology;
}

int default_threads(const Topology& topology) {
  return std::max(1, static_cast<int>(topology.physical_cores.size()) - 1);
}

}  // namespace assay::cpu
