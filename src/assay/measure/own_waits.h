#pragma once

// What a kernel's bursts wait for by its own doing: a thread that ends in a launch takes 3 us of
// its core of which no clock of its process knows (measured).

#include <cstdint>
#include <vector>

namespace assay::measure {

class OwnWaits {
 public:
  void add(int64_t waited_ns, int launches);
  // What a burst of so many launches usually waits, as long as a thread or a few explain it: the
  // median of those before it; 0 as long as there are too few.
  int64_t usual_ns(int launches) const;

 private:
  std::vector<int64_t> of_launch_ns_;  // The latest.
  std::size_t next_ = 0;
};

}  // namespace assay::measure
