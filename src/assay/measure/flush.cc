#include "assay/measure/flush.h"

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace assay::measure {

#if defined(__x86_64__)

bool flush_from_caches(std::span<const std::byte> bytes) {
  constexpr uintptr_t kLine = 64;
  const auto first = reinterpret_cast<uintptr_t>(bytes.data()) / kLine * kLine;
  const auto end = reinterpret_cast<uintptr_t>(bytes.data()) + bytes.size();
  for (uintptr_t line = first; line < end; line += kLine)
    _mm_clflush(reinterpret_cast<const void*>(line));
  _mm_mfence();
  return true;
}

#else

bool flush_from_caches(std::span<const std::byte>) { return false; }

#endif

}  // namespace assay::measure
