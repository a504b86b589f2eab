#include <array>
#include <utility>

#include "kernels.h"
#include "scalar.h"
#include "simd_avx512_bf16.h"
#include "split.h"

// GCC 12 takes the undefined vectors inside its own intrinsics for mistakes of ours.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,fma,f16c")

#include "instantiate.h"

namespace assay::native_cpu {

KernelFunctions find_avx512_bf16(const Tiling& tiling) {
  if (tiling.in != Element::bf16) return {};
  return find_mode<DotAvx512, Element::bf16>(tiling, std::integer_sequence<int, 1, 2, 3, 4>{},
                                             std::integer_sequence<int, 2, 3, 4, 6, 8>{});
}

}  // namespace assay::native_cpu

#pragma GCC pop_options
