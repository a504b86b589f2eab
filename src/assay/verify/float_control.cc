#include "assay/verify/float_control.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace assay::verify {

#if defined(__x86_64__)

namespace {
constexpr uint32_t kExceptionFlags = 0x3f;  // Sticky, and set by honest arithmetic.
// Bits of the x87's control word that mean something: exception masks, precision, rounding.
constexpr uint16_t kMeaning = 0x0f3f;
}  // namespace

FloatControl FloatControl::of_registers(uint32_t vector, uint16_t extended) {
  FloatControl control;
  control.vector_ = vector & ~kExceptionFlags;
  control.extended_ = extended & kMeaning;
  return control;
}

FloatControl FloatControl::read() {
  uint16_t extended = 0;
  asm volatile("fnstcw %0" : "=m"(extended));
  return of_registers(_mm_getcsr(), extended);
}

void FloatControl::restore() const {
  const auto extended = static_cast<uint16_t>(extended_ | 0x40);  // Always set; means nothing.
  asm volatile("fldcw %0" : : "m"(extended));
  _mm_setcsr(vector_);
}

#else

FloatControl FloatControl::of_registers(uint32_t, uint16_t) { return read(); }

FloatControl FloatControl::read() {
  FloatControl control;
  control.rounding_ = std::fegetround();
  return control;
}

void FloatControl::restore() const { std::fesetround(rounding_); }

#endif

}  // namespace assay::verify
