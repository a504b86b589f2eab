#include "assay/process/call_filter.h"

#include <cstddef>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace assay::sweep {
namespace {

constexpr uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS, kLoadSlot = BPF_LD | BPF_W | BPF_MEM;
constexpr uint16_t kIfEqual = BPF_JMP | BPF_JEQ | BPF_K, kIfGreater = BPF_JMP | BPF_JGT | BPF_K;
constexpr uint16_t kIfNotLess = BPF_JMP | BPF_JGE | BPF_K, kIfBits = BPF_JMP | BPF_JSET | BPF_K;
constexpr uint16_t kGo = BPF_JMP | BPF_JA, kEnd = BPF_RET | BPF_K;
constexpr uint32_t kX32 = 0x40000000;          // A second set of the same calls.
constexpr uint32_t kEndLow = 0, kEndHigh = 1;  // Slots for an end of a range.

uint32_t lower(std::uintptr_t value) { return static_cast<uint32_t>(value); }
uint32_t upper(std::uintptr_t value) { return static_cast<uint32_t>(uint64_t{value} >> 32); }

}  // namespace

CallFilter::CallFilter() {
#if defined(__x86_64__)
  emit(kLoad, offsetof(seccomp_data, arch));
  emit(kIfEqual, AUDIT_ARCH_X86_64, 1, 0);
  refuse();
  emit(kLoad, offsetof(seccomp_data, nr));
  emit(kIfNotLess, kX32, 0, 1);
  refuse();
#endif
}

void CallFilter::emit(uint16_t code, uint32_t value, uint8_t if_true, uint8_t if_false) {
  program_.push_back({code, if_true, if_false, value});
}

void CallFilter::refuse(int error) { emit(kEnd, SECCOMP_RET_ERRNO | static_cast<uint32_t>(error)); }

void CallFilter::begin_rule(std::initializer_list<long> calls) {
  emit(kLoad, offsetof(seccomp_data, nr));
  auto left = static_cast<uint8_t>(calls.size());
  for (const long call : calls) emit(kIfEqual, static_cast<uint32_t>(call), left--, 0);
  skip_ = program_.size();
  emit(kGo, 0);
}

void CallFilter::end_rule() {
  program_[skip_].k = static_cast<uint32_t>(program_.size() - skip_ - 1);
}

void CallFilter::load_half(int argument, bool upper_half) {
  emit(kLoad, static_cast<uint32_t>(offsetof(seccomp_data, args) + 8 * argument) +
                  (upper_half ? 4 : 0));  // Little endian.
}

void CallFilter::deny(std::initializer_list<long> calls, int error) {
  begin_rule(calls);
  refuse(error);
  end_rule();
}

void CallFilter::deny_bits(long call, int argument, uint32_t bits) {
  begin_rule({call});
  load_half(argument, false);
  emit(kIfBits, bits, 0, 1);
  refuse();
  end_rule();
}

void CallFilter::deny_values(long call, int argument, std::initializer_list<uint32_t> values) {
  begin_rule({call});
  load_half(argument, false);
  for (const uint32_t value : values) {
    emit(kIfEqual, value, 0, 1);
    refuse();
  }
  end_rule();
}

void CallFilter::deny_unless(long call, int argument, uint32_t bits,
                             std::initializer_list<uint32_t> values) {
  begin_rule({call});
  load_half(argument, false);
  emit(BPF_ALU | BPF_AND | BPF_K, bits);
  auto left = static_cast<uint8_t>(values.size());
  for (const uint32_t value : values) emit(kIfEqual, value, left--, 0);
  refuse();
  end_rule();
}

void CallFilter::deny_unless_null(long call, int argument) {
  begin_rule({call});
  load_half(argument, false);
  emit(kIfEqual, 0, 0, 2);
  load_half(argument, true);
  emit(kIfEqual, 0, 1, 0);
  refuse();
  end_rule();
}

void CallFilter::deny_overlap(std::initializer_list<long> calls, Place place,
                              std::span<const AddressRange> ranges) {
  begin_rule(calls);
  size_t other_flags = 0;
  if (place.bits != 0) {
    load_half(place.flags, false);
    emit(kIfBits, place.bits, 1, 0);
    other_flags = program_.size();
    emit(kGo, 0);
  }
  // The end, in two halves: the lower one carries where it is less than what was added to it.
  load_half(place.length, false);
  emit(BPF_MISC | BPF_TAX, 0);
  load_half(place.address, false);
  emit(BPF_ALU | BPF_ADD | BPF_X, 0);
  emit(BPF_ST, kEndLow);
  emit(BPF_JMP | BPF_JGE | BPF_X, 0, 2, 0);
  emit(BPF_LD | BPF_IMM, 1);
  emit(kGo, 1);
  emit(BPF_LD | BPF_IMM, 0);
  emit(BPF_MISC | BPF_TAX, 0);
  load_half(place.length, true);
  emit(BPF_ALU | BPF_ADD | BPF_X, 0);
  emit(BPF_MISC | BPF_TAX, 0);
  load_half(place.address, true);
  emit(BPF_ALU | BPF_ADD | BPF_X, 0);
  emit(BPF_ST, kEndHigh);
  for (const AddressRange& range : ranges) {
    // Not before the range's end: on to the next.
    load_half(place.address, true);
    emit(kIfGreater, upper(range.end), 9, 0);
    emit(kIfEqual, upper(range.end), 0, 2);
    load_half(place.address, false);
    emit(kIfNotLess, lower(range.end), 6, 0);
    // Ends behind the range's begin: denied.
    emit(kLoadSlot, kEndHigh);
    emit(kIfGreater, upper(range.begin), 3, 0);
    emit(kIfEqual, upper(range.begin), 0, 3);
    emit(kLoadSlot, kEndLow);
    emit(kIfGreater, lower(range.begin), 0, 1);
    refuse();
  }
  if (other_flags != 0)
    program_[other_flags].k = static_cast<uint32_t>(program_.size() - other_flags - 1);
  end_rule();
}

bool CallFilter::install() {
#if defined(__x86_64__)
  emit(kEnd, SECCOMP_RET_ALLOW);
  if (program_.size() > BPF_MAXINSNS) return false;
  const sock_fprog program{static_cast<unsigned short>(program_.size()), program_.data()};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
#else
  return false;
#endif
}

}  // namespace assay::sweep
