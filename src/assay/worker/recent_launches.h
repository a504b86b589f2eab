#pragma once

// The last launches of an open kernel. They go round a ring of outputs: what any of the last ones
// wrote is still there, and may be looked at.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::sweep {

class RecentLaunches {
 public:
  struct Launch {
    size_t set = 0;       // Of operands; it writes output `set` modulo the number of outputs.
    uint64_t launch = 0;  // Seed of what varied.
  };

  void add(Launch launch);
  bool empty() const { return launches_.empty(); }
  // Before now: 0 is the newest.
  const Launch& back(size_t before) const { return launches_[launches_.size() - 1 - before]; }

  // One of those whose output no later one has overwritten; any number chooses. Not empty().
  Launch surviving(size_t outputs, uint64_t choice) const;

 private:
  std::vector<Launch> launches_;  // Newest last.
};

}  // namespace assay::sweep
