// The kernels on tiles, on arithmetic of our own instead of a processor's tiles: their packing,
// blocks and edges hold on machines without AMX, too.

#include <array>

#include "kernels.h"
#include "scalar.h"
#include "simd_avx512.h"
#include "split.h"

#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,fma,f16c")

#include "amx.h"
#include "instantiate.h"

namespace assay::native_cpu {
namespace {

struct EmulatedUnit {
  using Tile = std::array<std::byte, 1024>;
  static inline thread_local std::array<Tile, 8> tiles;
  static inline thread_local bool configured = false;

  static bool permitted() { return true; }
  static void begin() { configured = true; }
  static void end() { configured = false; }
  template <int To>
  static void zero() {
    tiles.at(To).fill(std::byte{configured ? uint8_t{0} : uint8_t{0xff}});
  }
  template <int To>
  static void load(const std::byte* from, int64_t stride) {
    for (int row = 0; row < 16; ++row)
      std::memcpy(tiles[To].data() + row * 64, from + row * stride, 64);
  }
  template <int From>
  static void store(std::byte* to, int64_t stride) {
    for (int row = 0; row < 16; ++row)
      std::memcpy(to + row * stride, tiles[From].data() + row * 64, 64);
  }
  static float value(const uint16_t& bits) { return float_of(bits); }
  static int32_t value(const int8_t& whole) { return whole; }
  template <class Source, int To, int A, int B>
  static void product() {
    using Sum = std::conditional_t<sizeof(Source) == 2, float, int32_t>;
    constexpr int kPack = 4 / sizeof(Source);
    auto* const sums = reinterpret_cast<Sum*>(tiles[To].data());
    const auto* const a = reinterpret_cast<const Source*>(tiles[A].data());
    const auto* const b = reinterpret_cast<const Source*>(tiles[B].data());
    for (int row = 0; row < 16; ++row)
      for (int word = 0; word < 16; ++word)
        for (int column = 0; column < 16; ++column)
          for (int i = 0; i < kPack; ++i)
            sums[row * 16 + column] += value(a[row * 16 * kPack + word * kPack + i]) *
                                       value(b[word * 16 * kPack + column * kPack + i]);
  }
};

template <class Mode>
KernelFunctions functions_for(Algorithm algorithm) {
  if (algorithm == Algorithm::panels) return functions_of<AmxKernel<Mode, EmulatedUnit, true>>(32);
  KernelFunctions functions = functions_of<AmxKernel<Mode, EmulatedUnit, false>>(32);
  functions.prepare = nullptr;
  functions.prepared_bytes = nullptr;
  return functions;
}

}  // namespace

KernelFunctions find_emulated_amx(const Tiling& tiling) {
  return tiling.in == Element::s8 ? functions_for<AmxS8>(tiling.algorithm)
                                  : functions_for<AmxBf16>(tiling.algorithm);
}

}  // namespace assay::native_cpu

#pragma GCC pop_options
