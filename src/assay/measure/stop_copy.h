#pragma once

// What lay in the outputs of a burst when its clock stopped. A kernel that leaves work for later
// (to a thread that sleeps, a timer's signal, whoever reads its output first) is right by the time
// that somebody looks: this copy is taken before it can be, and then shows a difference.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::measure {

class StopCopy {
 public:
  // Copied within some ten microseconds after the clock, and lost in any second-level cache.
  static constexpr size_t kMostBytes = size_t{1} << 16;

  // Before a burst: which bytes to copy. `outputs` in turn from a random one on, as many as fit; of
  // one that does not fit alone a part at a random place. Gives the index of the first.
  size_t aim(std::span<const std::span<const std::byte>> outputs, uint64_t seed);
  // Calls nothing of the system. Without an aim it does nothing.
  void take();
  // Whether what was copied is no longer what is there.
  bool differs() const;
  // Before a later launch overwrites the outputs.
  void drop() {
    parts_.clear();
    taken_ = false;
  }
  bool taken() const { return taken_; }

 private:
  std::vector<std::span<const std::byte>> parts_;
  std::vector<std::byte> copy_;
  bool taken_ = false;
};

}  // namespace assay::measure
