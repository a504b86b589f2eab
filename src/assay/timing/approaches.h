#pragma once

// How long a process of a user takes ahead of its clock, to make cold what its kernels may keep.
// All kernels of a problem take that long, so that none finds a core that has rested for less
// (worker/cpu/approach.h).

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

namespace assay::sweep {

class Approaches {
 public:
  // Of a burst of a user's kernel; what its process says of it is at most what we saw.
  void add(size_t kernel, int64_t told_ns, double seen_ns);

  // The longest of all kernels' medians; 0 where none is worth equalling.
  int64_t least_ns() const;

 private:
  std::map<size_t, std::deque<int64_t>> last_;
};

}  // namespace assay::sweep
