#pragma once

#include <memory>
#include <string>
#include <vector>

#include "assay/device/device.h"

namespace assay::cpu {

// Read from /proc and /sys; values that the machine does not tell are 0 or empty.
struct Topology {
  std::string model, vendor, microcode;
  int logical = 1;                  // Online CPUs that this process may use.
  std::vector<int> physical_cores;  // One logical CPU of each physical core allowed to us.
  size_t l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0;
  size_t memory_bytes = 0;          // Of the machine, or the cgroup's limit where that is less.
};
Topology read_topology();
Target host_target();               // From cpuid, with the operating system's support checked.

struct Options {
  int threads = 0;    // 0: physical cores less one, at least one.
  bool pin = false;   // Pin the calling process to the first `threads` physical cores. The worker does.
};

Result<std::unique_ptr<Device>> open(const Options& options);

int default_threads(const Topology& topology);

}  // namespace assay::cpu
