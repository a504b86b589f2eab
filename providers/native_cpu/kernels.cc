#include "kernels.h"

namespace assay::native_cpu {

KernelFunctions find_kernel(const Tiling& tiling) {
  switch (tiling.isa) {
    case Isa::avx2:
      return find_avx2(tiling);
    case Isa::avx512:
      return find_avx512(tiling);
    case Isa::avx512_bf16:
      return find_avx512_bf16(tiling);
  }
  return {};
}

bool is_supported(Isa isa) {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq");
  switch (isa) {
    case Isa::avx2:
      return avx2;
    case Isa::avx512:
      return avx512;
    case Isa::avx512_bf16:
      return avx512 && __builtin_cpu_supports("avx512bf16");
  }
  return false;
}

}  // namespace assay::native_cpu
