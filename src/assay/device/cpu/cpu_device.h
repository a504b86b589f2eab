#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "assay/device/device.h"

namespace assay::cpu {

// Read from /proc and /sys; values that the machine does not tell are 0 or empty.
struct Topology {
  std::string model, vendor, microcode;
  int machine_logical = 1;             // Online CPUs of the machine, whoever may use them.
  int logical = 1;                     // CPUs that this process may use: affinity and cgroup quota.
  std::vector<int> physical_cores;     // One logical CPU of each physical core allowed to us.
  size_t l1d_bytes = 0, l2_bytes = 0;  // Of one core.
  size_t l3_bytes = 0;                 // Of all third-level caches that those cores reach together.
  size_t l3_instance_bytes = 0;        // Of one of them.
  size_t memory_bytes = 0;             // Of the machine, or the cgroup's limit where that is less.
  double cpu_quota = 0;                // CPUs' worth of time that a cgroup grants; 0: no limit.
};

// Where to read: another root and other CPUs than our own for tests.
struct TopologySource {
  std::string root;          // In front of /proc and /sys.
  std::vector<int> allowed;  // Empty: sched_getaffinity.
  bool ask_system = true;    // sysconf, where files say nothing.
};
Topology read_topology(const TopologySource& source = {});

// From cpuid, with the operating system's support checked (XGETBV). Linux's names: pni, avx2,
// avx512_bf16 ... A kernel that uses AMX still has to ask the system for permission first.
Target host_target();

struct Options {
  int threads = 0;  // 0: physical cores less one, at least one.
  bool pin =
      false;  // Pin the calling process to the first `threads` physical cores. The worker does.
  // Share of the machine's memory: how much freed memory is kept for later buffers, which then
  // begin with what was left in it.
  double kept_share = 0;
};

// Errors: more threads than cores (invalid_input); pinning refused by the system (machine).
Result<std::unique_ptr<Device>> open(const Options& options);

int default_threads(const Topology& topology);  // Physical cores less one, at least one.

}  // namespace assay::cpu
