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

  // Before a burst: what there is to copy.
  void aim(std::span<const std::span<const std::byte>> outputs);
  // Which bytes is drawn now, by a number that nobody can have known before: outputs in turn from a
  // random one on, as many as fit; of one that does not fit alone a part at a random place. Without
  // an aim it does nothing.
  void take();
  size_t first() const { return first_; }  // Of the outputs that were aimed at, once it was taken.
  // Whether what was copied is no longer what is there.
  bool differs() const;
  // Before a later launch overwrites the outputs.
  void drop() {
    outputs_.clear();
    parts_.clear();
    taken_ = false;
  }
  bool taken() const { return taken_; }
  // A number that nobody can have known before this call.
  static uint64_t draw();

 private:
  std::vector<std::span<const std::byte>> outputs_, parts_;
  size_t first_ = 0;
  std::vector<std::byte> copy_;
  bool taken_ = false;
};

}  // namespace assay::measure
