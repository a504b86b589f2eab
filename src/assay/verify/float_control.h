#pragma once

#include <cstdint>

namespace assay::verify {

// How a thread rounds, whether it treats subnormal numbers as zero, and which exceptions trap. A
// kernel that leaves this changed changes the results of those that run after it.
class FloatControl {
 public:
  static FloatControl read();  // Of this thread.
  void restore() const;

  // Of another thread, from where it is at rest: its vector unit's and its x87's control registers.
  static FloatControl of_registers(uint32_t vector, uint16_t extended);
  uint32_t vector() const { return vector_; }
  uint16_t extended() const { return extended_; }

  bool operator==(const FloatControl&) const = default;

 private:
  uint32_t vector_ = 0;    // On x86: MXCSR without its exception flags.
  uint16_t extended_ = 0;  // On x86: the control word of the x87; holds its precision, too.
  int rounding_ = 0;       // Elsewhere: fegetround().
};

}  // namespace assay::verify
