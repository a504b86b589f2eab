#include <array>
#include <utility>

#include "kernels.h"
#include "scalar.h"
#include "simd_avx512_vnni.h"
#include "split.h"

// GCC 12 takes the undefined vectors inside its own intrinsics for mistakes of ours.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,fma,f16c")

#include "instantiate.h"

namespace assay::native_cpu {

KernelFunctions find_avx512_vnni(const Tiling& tiling) {
  if (tiling.in != Element::s8) return {};
  return find_mode<S8Vnni, Element::s8>(tiling, std::integer_sequence<int, 1, 2>{},
                                        std::integer_sequence<int, 3, 4, 6, 8>{});
}

}  // namespace assay::native_cpu

#pragma GCC pop_options
