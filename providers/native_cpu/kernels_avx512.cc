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
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,fma")

#include "instantiate.h"

namespace assay::native_cpu {

KernelFunctions find_avx512(const Tiling& tiling) {
  if (tiling.in == Element::f32)
    return find_mode<F32Avx512>(tiling, std::integer_sequence<int, 1, 2, 3, 4, 8>{},
                                std::integer_sequence<int, 2, 3, 4, 6, 8>{});
  return find_mode<WidenAvx512>(tiling, std::integer_sequence<int, 1, 2>{},
                                std::integer_sequence<int, 4, 8>{});
}

}  // namespace assay::native_cpu

#pragma GCC pop_options
