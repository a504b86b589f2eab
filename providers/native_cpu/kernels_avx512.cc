#include <array>
#include <utility>

#include "kernels.h"
#include "scalar.h"
#include "simd_avx512.h"
#include "split.h"

// GCC 12 takes the undefined vectors inside its own intrinsics for mistakes of ours.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,fma,f16c")

#include "instantiate.h"

namespace assay::native_cpu {

KernelFunctions find_avx512(const Tiling& tiling) {
  switch (tiling.in) {
    case Element::f32:
      return find_mode<F32Avx512, Element::f32>(tiling, std::integer_sequence<int, 1, 2, 3, 4, 8>{},
                                                std::integer_sequence<int, 2, 3, 4, 6, 8>{});
    case Element::bf16:
      return find_mode<WidenAvx512, Element::bf16>(tiling, std::integer_sequence<int, 1, 2>{},
                                                   std::integer_sequence<int, 4, 8>{});
    case Element::f16:
      return find_mode<F16Avx512, Element::f16>(tiling, std::integer_sequence<int, 2, 3, 4>{},
                                                std::integer_sequence<int, 3, 4, 6>{});
    case Element::s8:
      return find_mode<S8Avx512, Element::s8>(tiling, std::integer_sequence<int, 1, 2>{},
                                              std::integer_sequence<int, 4, 6>{});
    case Element::s32:
      break;
  }
  return {};
}

}  // namespace assay::native_cpu

#pragma GCC pop_options
