#pragma once

// Where a run took place: what must agree before its numbers may be set beside another run's.

#include <cstdint>
#include <string>
#include <vector>

#include "assay/base/json.h"

namespace assay {

// The device as device/ described it. `id` is stable: a GPU's UUID, or a hash of model, topology
// and microcode.
struct DeviceStamp {
  std::string kind;  // "cpu", "gpu".
  std::string name;  // Model.
  std::string id;
  Json details = Json::object();

  bool operator==(const DeviceStamp&) const = default;
};

// A provider's library as it was really mapped.
struct LibraryStamp {
  std::string provider;
  std::string version;  // As it says itself.
  std::string path;
  std::string build_hash;  // SHA-256 of the file.

  bool operator==(const LibraryStamp&) const = default;
};

// What the machine reaches: "% of ceiling" is a share of it. On a CPU the second largest of all
// readings that this machine ever gave (measure/kept_ceilings.h), so that two runs an hour apart
// are held against the same one.
struct Ceiling {
  std::string name;  // "read", "copy", "flops_f32" ...
  double value = 0;
  std::string unit;  // "byte/s", "flop/s".
  int threads = 0;
  std::string from, until;  // UTC: the window in which it was measured.
  double load = 0;          // Runnable tasks besides our own then.

  bool operator==(const Ceiling&) const = default;
};

struct Environment {
  DeviceStamp device;
  std::string system;     // "Debian GNU/Linux 12".
  std::string os_kernel;  // "6.1.0-18-amd64".
  std::string driver;     // Of a GPU; empty on a CPU.
  std::string compiler;   // What compiled users' sources: "g++ 12.2.0".
  std::string toolkit;    // Of a GPU; empty on a CPU.
  std::vector<LibraryStamp> libraries;
  int threads = 0;  // Cores that kernels could use.
  std::vector<int> pinned_cores;
  std::string governor;    // "performance", "schedutil"; empty where the system hides it.
  double clock_mhz = 0;    // Before the first race; 0 unknown.
  std::string huge_pages;  // "advised, granted", "refused" ...
  double load_before = 0, load_after = 0;  // Runnable tasks besides our own.
  std::vector<Ceiling> ceilings;
  std::vector<std::string> warnings;  // "steal time 3 %": sentences, shown with the result.

  bool operator==(const Environment&) const = default;
};

// The part that decides whether two results may be set side by side: device, driver, toolkit,
// library versions. Returns one sentence for each difference; fields that either side left empty
// say nothing.
std::vector<std::string> environment_differences(const Environment& first,
                                                 const Environment& second);

}  // namespace assay
