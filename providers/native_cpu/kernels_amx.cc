#include <array>
#include <utility>

#if defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "kernels.h"
#include "scalar.h"
#include "simd_avx512.h"
#include "split.h"

// GCC 12 takes the undefined vectors inside its own intrinsics for mistakes of ours.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"

namespace assay::native_cpu {

// The tiles are large: the kernel (from Linux 5.16 on) keeps them for those processes alone that
// ask, and for their threads. Asked once.
bool amx_is_permitted() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr int kRequest = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, of <asm/prctl.h>.
  static const bool permitted = syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
  return permitted;
#else
  return false;
#endif
}

}  // namespace assay::native_cpu

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,fma,f16c,amx-tile,amx-bf16,amx-int8")

#include "amx.h"
#include "instantiate.h"

namespace assay::native_cpu {
namespace {

// As the instruction reads it. In memory of its own: the compiler's intrinsic tells of eight bytes.
struct alignas(64) TileShapes {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t line_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constinit const TileShapes kWholeTiles;

// The processor's eight tiles.
struct TileUnit {
  static bool permitted() { return amx_is_permitted(); }
  [[gnu::always_inline]] static inline void begin() { _tile_loadconfig(&kWholeTiles); }
  [[gnu::always_inline]] static inline void end() { _tile_release(); }
  template <int Tile>
  [[gnu::always_inline]] static inline void zero() {
    __asm__ volatile("tilezero %%tmm%c0" ::"i"(Tile));
  }
  template <int Tile>
  [[gnu::always_inline]] static inline void load(const std::byte* from, int64_t stride) {
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "i"(Tile)
                     : "memory");
  }
  template <int Tile>
  [[gnu::always_inline]] static inline void store(std::byte* to, int64_t stride) {
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride), "i"(Tile) : "memory");
  }
  template <class Source, int To, int A, int B>
  [[gnu::always_inline]] static inline void product() {
    if constexpr (sizeof(Source) == 2)
      __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(To), "i"(A), "i"(B));
    else
      __asm__ volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(To), "i"(A), "i"(B));
  }
};

constexpr int kVectors = 2;  // Tiles of b beside one another.

template <class Mode, Element In>
KernelFunctions functions_for(Algorithm algorithm) {
  constexpr int kRows = 32;
  KernelFunctions functions;
  if constexpr (is_built(In, Algorithm::panels, kVectors))
    if (algorithm == Algorithm::panels) return functions_of<AmxKernel<Mode, TileUnit, true>>(kRows);
  if constexpr (is_built(In, Algorithm::blocked, kVectors)) {
    if (algorithm == Algorithm::blocked) {
      functions = functions_of<AmxKernel<Mode, TileUnit, false>>(kRows);
      functions.prepare = nullptr;
      functions.prepared_bytes = nullptr;
    }
  }
  return functions;
}

}  // namespace

KernelFunctions find_amx(const Tiling& tiling) {
  if (tiling.nv != kVectors) return {};
  if (tiling.in == Element::bf16) return functions_for<AmxBf16, Element::bf16>(tiling.algorithm);
  if (tiling.in == Element::s8) return functions_for<AmxS8, Element::s8>(tiling.algorithm);
  return {};
}

}  // namespace assay::native_cpu

#pragma GCC pop_options
