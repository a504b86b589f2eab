#pragma once

// A filter of system calls, in the kernel's own language (classic BPF). Rules are tried in the
// order in which they were added; a call that none denies is allowed. Nothing can be taken back:
// filters hold until the process ends, and for all that it starts.

#include <cerrno>
#include <cstdint>
#include <initializer_list>
#include <linux/filter.h>
#include <span>
#include <vector>

namespace assay::sweep {

struct AddressRange {
  std::uintptr_t begin = 0, end = 0;
  bool operator==(const AddressRange&) const = default;
};

class CallFilter {
 public:
  CallFilter();

  void deny(std::initializer_list<long> calls, int error = EPERM);
  // Where any of these bits of an argument are set (of its lower half).
  void deny_bits(long call, int argument, uint32_t bits);
  // Where an argument (its lower half) is one of these.
  void deny_values(long call, int argument, std::initializer_list<uint32_t> values);
  // Unless these bits of an argument (of its lower half) are one of these values.
  void deny_unless(long call, int argument, uint32_t bits, std::initializer_list<uint32_t> values);
  // Where an argument is no null pointer.
  void deny_unless_null(long call, int argument);
  // Where the range [address, address + length) touches any of `ranges`, whose ends are pages'.
  // With `bits` other than 0: only where argument `flags` has some of them.
  struct Place {
    int address = 0, length = 1;
    int flags = 0;
    uint32_t bits = 0;
  };
  void deny_overlap(std::initializer_list<long> calls, Place place,
                    std::span<const AddressRange> ranges);

  // For all threads of this process, which must have given up new privileges. False where the
  // system takes no filter, or not this one.
  bool install();

 private:
  void emit(uint16_t code, uint32_t value, uint8_t if_true = 0, uint8_t if_false = 0);
  // Goes on behind it for these calls alone; the jump past the rule is put right by end_rule().
  void begin_rule(std::initializer_list<long> calls);
  void end_rule();
  void load_half(int argument, bool upper);
  void refuse(int error = EPERM);

  std::vector<sock_filter> program_;
  size_t skip_ = 0;  // The jump that leaves the rule that is being made.
};

}  // namespace assay::sweep
