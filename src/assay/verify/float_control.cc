#include "assay/verify/float_control.h"

#include <cfenv>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace assay::verify {
namespace {
constexpr uint32_t kExceptionFlags = 0x3f;  // Sticky, and set by honest arithmetic.
}  // namespace

FloatControl FloatControl::read() {
  FloatControl control;
#if defined(__x86_64__)
  control.vector_ = _mm_getcsr() & ~kExceptionFlags;
#endif
  control.rounding_ = std::fegetround();
  return control;
}

void FloatControl::restore() const {
  std::fesetround(rounding_);
#if defined(__x86_64__)
  _mm_setcsr(vector_);
#endif
}

}  // namespace assay::verify
