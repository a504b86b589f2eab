#include "assay/measure/flush.h"

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace assay::measure {

#if defined(__x86_64__)

namespace {

constexpr uintptr_t kLine = 64;

// Flushes run side by side, where those of the older instruction wait for each other.
__attribute__((target("clflushopt"))) void flush_lines_unordered(uintptr_t first, uintptr_t end) {
  for (uintptr_t line = first; line < end; line += kLine)
    _mm_clflushopt(reinterpret_cast<void*>(line));
}

void flush_lines(uintptr_t first, uintptr_t end) {
  for (uintptr_t line = first; line < end; line += kLine)
    _mm_clflush(reinterpret_cast<const void*>(line));
}

enum class Instruction : uint8_t { unknown, clflush, clflushopt };
Instruction instruction = Instruction::unknown;

bool has_clflushopt() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ebx & bit_CLFLUSHOPT) != 0;
}

}  // namespace

bool flush_from_caches(std::span<const std::byte> bytes) {
  if (instruction == Instruction::unknown)
    instruction = has_clflushopt() ? Instruction::clflushopt : Instruction::clflush;
  const auto first = reinterpret_cast<uintptr_t>(bytes.data()) / kLine * kLine;
  const auto end = reinterpret_cast<uintptr_t>(bytes.data()) + bytes.size();
  (instruction == Instruction::clflushopt ? flush_lines_unordered : flush_lines)(first, end);
  _mm_mfence();
  return true;
}

std::span<const std::byte> flush_setting() { return std::as_bytes(std::span(&instruction, 1)); }

#else

bool flush_from_caches(std::span<const std::byte>) { return false; }

std::span<const std::byte> flush_setting() { return {}; }

#endif

void read_into_caches(std::span<const std::byte> bytes) {
  constexpr size_t kLineBytes = 64;
  const volatile std::byte* const first = bytes.data();
  for (size_t at = 0; at < bytes.size(); at += kLineBytes) (void)first[at];
}

}  // namespace assay::measure
