#include <array>
#include <utility>

#include "kernels.h"
#include "scalar.h"
#include "simd_avx2.h"
#include "split.h"

#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")

#include "instantiate.h"

namespace assay::native_cpu {

KernelFunctions find_avx2(const Tiling& tiling) {
  switch (tiling.in) {
    case Element::f32:
      return find_mode<F32Avx2, Element::f32>(tiling, std::integer_sequence<int, 1, 2, 4>{},
                                              std::integer_sequence<int, 2, 3, 4>{});
    case Element::bf16:
      return find_mode<WidenAvx2, Element::bf16>(tiling, std::integer_sequence<int, 1, 2>{},
                                                 std::integer_sequence<int, 2, 4>{});
    case Element::f16:
      return find_mode<F16Avx2, Element::f16>(tiling, std::integer_sequence<int, 2, 4>{},
                                              std::integer_sequence<int, 2, 4>{});
    case Element::s8:
      return find_mode<S8Avx2, Element::s8>(tiling, std::integer_sequence<int, 1, 2>{},
                                            std::integer_sequence<int, 2, 4>{});
    case Element::s32:
      break;
  }
  return {};
}

}  // namespace assay::native_cpu

#pragma GCC pop_options
