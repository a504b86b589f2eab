#include "assay/base/vector_unit.h"

#include <initializer_list>

namespace assay {

bool has_vector_unit(VectorUnit unit) {
#if defined(__x86_64__)
  if (unit == VectorUnit::avx512)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
  if (unit == VectorUnit::avx2)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  return unit == VectorUnit::best || unit == VectorUnit::baseline;
}

VectorUnit resolve(VectorUnit unit) {
  if (unit != VectorUnit::best) return unit;
  for (const VectorUnit each : {VectorUnit::avx512, VectorUnit::avx2})
    if (has_vector_unit(each)) return each;
  return VectorUnit::baseline;
}

}  // namespace assay
