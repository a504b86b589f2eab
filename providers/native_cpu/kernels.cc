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
    case Isa::avx512_vnni:
      return find_avx512_vnni(tiling);
    case Isa::amx:
      return find_amx(tiling);
  }
  return {};
}

bool is_supported(Isa isa, Element in) {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    (in != Element::f16 || __builtin_cpu_supports("f16c"));
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
    case Isa::avx512_vnni:
      return avx512 && __builtin_cpu_supports("avx512vnni");
    case Isa::amx:
      return avx512 && __builtin_cpu_supports("amx-tile") &&
             ((in == Element::bf16 && __builtin_cpu_supports("amx-bf16")) ||
              (in == Element::s8 && __builtin_cpu_supports("amx-int8"))) &&
             amx_is_permitted();
  }
  return false;
}

}  // namespace assay::native_cpu
