#pragma once

#include <cstdint>

namespace assay::verify {

// How this thread rounds, and whether it treats subnormal numbers as zero. A kernel that leaves
// this changed changes the results of those that run after it.
class FloatControl {
 public:
  static FloatControl read();
  void restore() const;

  bool operator==(const FloatControl&) const = default;

 private:
  uint32_t vector_ = 0;  // MXCSR without its exception flags, on x86.
  int rounding_ = 0;     // fegetround().
};

}  // namespace assay::verify
