#pragma once

// GEMM on tiles: 16 rows of 64 bytes, which a unit of its own multiplies. Include it where AVX-512
// is enabled. Unit is what multiplies them (kernels_amx.cc), or stands in for it (amx_test.cc).

#include "pack.h"
#include "split.h"

namespace assay::native_cpu {

// What the templates of pack.h and the tiles know of an element type. Columns lie as they are.
template <class Lanes, class SourceType>
struct TileMode : Lanes {
  using Source = SourceType;
  static constexpr int kGroup = 1, kColumns = 16;
  [[gnu::always_inline]] static inline void linear(typename Lanes::Accumulator*) {}
};
using AmxBf16 = TileMode<Avx512, uint16_t>;
using AmxS8 = TileMode<S32Avx512, int8_t>;

template <class Mode, class Unit, bool Prepared>
struct AmxKernel {
  using Source = typename Mode::Source;
  using Sum = typename Mode::Sum;
  // Two by two tiles of sums are kept at once: four products for four loads.
  static constexpr int64_t kBlock = 32, kHalf = 16;
  static constexpr int64_t kDepth = 64 / sizeof(Source);  // Of k, in a row of a tile of a.
  static constexpr int64_t kPack = 4 / sizeof(Source);    // Of k, side by side in a tile of b.
  static constexpr int64_t kTile = 1024, kStepBytes = 2 * kTile;

  static int64_t steps_of(int64_t k) { return (k + kDepth - 1) / kDepth; }
  static int64_t panels_of(const GemmCall& call) { return (call.n + kBlock - 1) / kBlock; }

  struct Blocks {
    int64_t rows;   // Of a, packed at a time: whole blocks.
    int64_t steps;  // Of k, for which a block of b stays in the first cache.
    Blocks(const GemmCall& call, const Tiling& tiling) {
      const int64_t all = std::max<int64_t>(steps_of(call.k), 1);
      steps = tiling.kc == 0 ? all : std::min(all, steps_of(tiling.kc));
      rows = tiling.mc == 0 ? call.m : std::min<int64_t>(call.m, tiling.mc);
      rows = std::max((rows + kBlock - 1) / kBlock * kBlock, kBlock);
    }
    int64_t a_bytes(const GemmCall& call) const {
      return rows / kBlock * AmxKernel::steps_of(call.k) * kStepBytes;
    }
    int64_t b_bytes() const { return Prepared ? 0 : steps * kStepBytes; }
    int64_t part_bytes() const { return b_bytes() + rows * kBlock * 4; }  // Of one thread.
  };

  static int64_t workspace_bytes(const GemmCall& call, const Tiling& tiling) {
    const Blocks blocks(call, tiling);
    return blocks.a_bytes(call) + tiling.threads * blocks.part_bytes();
  }

  // Prepared panels: [batch][panel of 32 columns][step][tile of 16 columns].
  static int64_t panel_bytes(const GemmCall& call) { return steps_of(call.k) * kStepBytes; }
  static int64_t prepared_bytes(const GemmCall& call) {
    return call.l * panels_of(call) * panel_bytes(call);
  }
  static int prepare(const GemmCall& call, void* prepared) {
    auto* out = static_cast<std::byte*>(prepared);
    for (int64_t batch = 0; batch < call.l; ++batch)
      for (int64_t j = 0; j < call.n; j += kBlock, out += panel_bytes(call))
        pack_b(call, batch, j, 0, call.k, out);
    return 0;
  }

  // Rows of a as tiles hold them: [step][tile of 16 rows]; what there is not is zero.
  static void pack_a(const GemmCall& call, int64_t batch, int64_t row0, int64_t rows,
                     std::byte* out) {
    const auto* a = static_cast<const Source*>(call.a) + batch * call.a_batch + row0 * call.a_row;
    const int64_t whole = call.a_column == 1 ? call.k / kDepth : 0, steps = steps_of(call.k);
    for (int64_t r = 0; r < kBlock; ++r) {
      std::byte* to = out + r / kHalf * kTile + r % kHalf * 64;
      const Source* from = a + r * call.a_row;
      for (int64_t s = 0; s < steps; ++s, to += kStepBytes) {
        if (r >= rows) {
          _mm512_store_si512(to, _mm512_setzero_si512());
          continue;
        }
        if (s < whole) {
          _mm512_store_si512(to, _mm512_loadu_si512(from + s * kDepth));
          continue;
        }
        alignas(64) Source line[kDepth] = {};
        const int64_t count = std::min(kDepth, call.k - s * kDepth);
        for (int64_t i = 0; i < count; ++i) line[i] = from[(s * kDepth + i) * call.a_column];
        std::memcpy(to, line, 64);
      }
    }
  }

  // kk of k, from k0 on, of 32 columns of b as tiles hold them: a row of a tile has 16 columns, of
  // each kPack values of k.
  static void pack_b(const GemmCall& call, int64_t batch, int64_t column0, int64_t k0, int64_t kk,
                     std::byte* out) {
    const auto* b = static_cast<const Source*>(call.b) + batch * call.b_batch + k0 * call.b_row +
                    column0 * call.b_column;
    const int64_t columns = std::min(kBlock, call.n - column0);
    for (int64_t s = 0; s < steps_of(kk); ++s)
      for (int64_t half = 0; half < 2; ++half, out += kTile) {
        const Source* from = b + s * kDepth * call.b_row + half * kHalf * call.b_column;
        const int64_t depth = std::min(kDepth, kk - s * kDepth);
        const int64_t width = std::min(kHalf, columns - half * kHalf);
        if (depth == kDepth && width == kHalf && call.b_row == 1)
          transpose_tile(from, call.b_column, out);
        else if (depth == kDepth && width == kHalf && call.b_column == 1)
          interleave_tile(from, call.b_row, out);
        else
          gather_tile(call, from, depth, width, out);
      }
  }
  static void transpose_tile(const Source* from, int64_t stride, std::byte* out) {
    __m512i lines[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) lines[i] = _mm512_loadu_si512(from + i * stride);
    Mode::transpose_words(lines);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) _mm512_store_si512(out + i * 64, lines[i]);
  }
  static void interleave_tile(const Source* from, int64_t stride, std::byte* out) {
    for (int64_t r = 0; r < 16; ++r, out += 64) {
      __m512i line = _mm512_setzero_si512();
#pragma GCC unroll 4
      for (int64_t i = 0; i < kPack; ++i) {
        const Source* row = from + (r * kPack + i) * stride;
        __m512i words;
        if constexpr (sizeof(Source) == 2)
          words = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(row)));
        else
          words = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(row)));
        line = _mm512_or_si512(
            line, _mm512_slli_epi32(words, static_cast<unsigned>(i * 8 * sizeof(Source))));
      }
      _mm512_store_si512(out, line);
    }
  }
  static void gather_tile(const GemmCall& call, const Source* from, int64_t depth, int64_t width,
                          std::byte* out) {
    alignas(64) Source tile[kTile / sizeof(Source)] = {};
    for (int64_t i = 0; i < depth; ++i)
      for (int64_t j = 0; j < width; ++j)
        tile[(i / kPack * kHalf + j) * kPack + i % kPack] =
            from[i * call.b_row + j * call.b_column];
    std::memcpy(out, tile, kTile);
  }

  // Of the next panel, what one block of rows asks for: lines in each of its steps.
  struct Ask {
    const std::byte* at = nullptr;
    int64_t lines = 0;
  };
  static constexpr int64_t kStepLines = kStepBytes / 64;

  // The first block of rows asks for what lies `ahead` bytes further; or (ahead 1) each of `blocks`
  // for its share of what comes behind this block of b.
  static Ask ask(const Tiling& tiling, const std::byte* b, int64_t steps, int64_t block,
                 int64_t blocks) {
    if (!Prepared || tiling.ahead == 0) return {};
    if (tiling.ahead > 1) return block == 0 ? Ask{b + tiling.ahead, kStepLines} : Ask{};
    const int64_t share = (kStepLines + blocks - 1) / blocks;
    const int64_t lines = std::clamp<int64_t>(kStepLines - block * share, 0, share);
    return {b + steps * (kStepBytes + block * share * 64), lines};
  }

  // Blocks of 32 x 32, panel by panel: of `here` rows from row0 on, packed in a.
  static void run_part(const GemmCall& call, const Tiling& tiling, int64_t batch, int64_t row0,
                       int64_t here, Range units, const std::byte* a, std::byte* space) {
    const Blocks blocks(call, tiling);
    std::byte* const packed_b = space;
    auto* const sums = reinterpret_cast<Sum*>(space + blocks.b_bytes());
    const int64_t steps = steps_of(call.k), down = (here + kBlock - 1) / kBlock;
    const bool may_store = stores_sums<Mode>(call);
    for (int64_t unit = units.begin; unit < units.end;) {
      const int64_t panel = unit / down, j = panel * kBlock;
      const Range rows{unit % down, std::min(down, unit % down + units.end - unit)};
      unit += rows.size();
      // Rows whose tiles are whole, too.
      const int64_t whole = may_store && call.n - j >= kBlock ? here / kHalf * kHalf : 0;
      const std::byte* const prepared =
          static_cast<const std::byte*>(call.panels) +
          (Prepared ? (batch * panels_of(call) + panel) * panel_bytes(call) : 0);
      int64_t s = 0;
      do {
        const int64_t count = std::min(blocks.steps, steps - s);
        if (!Prepared)
          pack_b(call, batch, j, s * kDepth, std::min(count * kDepth, call.k - s * kDepth),
                 packed_b);
        const std::byte* const b = Prepared ? prepared + s * kStepBytes : packed_b;
        for (int64_t r = rows.begin; r < rows.end; ++r) {
          const int64_t left = here - r * kBlock;
          Sums to{reinterpret_cast<std::byte*>(sums + r * kBlock * kBlock), kBlock * 4};
          if (r * kBlock + std::min(left, kBlock) <= whole)
            to = {static_cast<std::byte*>(call.d) +
                      (batch * call.d_batch + (row0 + r * kBlock) * call.d_row + j) * 4,
                  call.d_row * 4};
          (left > kHalf ? &multiply<2>
                        : &multiply<1>)(count, a + (r * steps + s) * kStepBytes, b, to, s > 0,
                                        ask(tiling, b, count, r - rows.begin, rows.size()));
        }
        s += blocks.steps;
      } while (s < steps);
      const int64_t first = std::max(rows.begin * kBlock, whole / kBlock * kBlock);
      const int64_t end = std::min(rows.end * kBlock, here);
      if (whole < end && first < end)
        finish_tile<Mode, 2>(call, batch, row0 + first, end - first, j,
                             std::min(kBlock, call.n - j), sums + first * kBlock, nullptr);
    }
  }

  struct Sums {
    std::byte* at;
    int64_t line;  // Bytes from one row to the next.
  };

  // 16 or 32 rows by 32 columns of sums.
  template <int Down>
  static void multiply(int64_t steps, const std::byte* a, const std::byte* b, Sums sums,
                       bool accumulate, Ask next) {
    std::byte* const upper = sums.at;
    std::byte* const lower = upper + kHalf * sums.line;
    if (accumulate) {
      Unit::template load<0>(upper, sums.line);
      Unit::template load<1>(upper + 64, sums.line);
      if (Down == 2) Unit::template load<2>(lower, sums.line);
      if (Down == 2) Unit::template load<3>(lower + 64, sums.line);
    } else {
      Unit::template zero<0>();
      Unit::template zero<1>();
      if (Down == 2) Unit::template zero<2>();
      if (Down == 2) Unit::template zero<3>();
    }
    for (int64_t s = 0; s < steps; ++s, a += kStepBytes, b += kStepBytes) {
      for (int64_t i = 0; i < next.lines; ++i, next.at += 64) __builtin_prefetch(next.at, 0, 2);
      Unit::template load<4>(a, 64);
      Unit::template load<6>(b, 64);
      Unit::template load<7>(b + kTile, 64);
      Unit::template product<Source, 0, 4, 6>();
      Unit::template product<Source, 1, 4, 7>();
      if (Down == 2) {
        Unit::template load<5>(a + kTile, 64);
        Unit::template product<Source, 2, 5, 6>();
        Unit::template product<Source, 3, 5, 7>();
      }
    }
    Unit::template store<0>(upper, sums.line);
    Unit::template store<1>(upper + 64, sums.line);
    if (Down == 2) Unit::template store<2>(lower, sums.line);
    if (Down == 2) Unit::template store<3>(lower + 64, sums.line);
  }

  // Threads pack a together. Then each has as many blocks as any other, or one less.
  static int run(const GemmCall& call, const Tiling& tiling, void* workspace) {
    if (call.m == 0 || call.n == 0) return 0;
    if (!Unit::permitted()) return 1;
    const Blocks blocks(call, tiling);
    auto* const a = static_cast<std::byte*>(workspace);
    const int threads = tiling.threads;
    for (int64_t batch = 0; batch < call.l; ++batch)
      for (int64_t row0 = 0; row0 < call.m; row0 += blocks.rows) {
        const int64_t here = std::min(blocks.rows, call.m - row0);
        const int64_t down = (here + kBlock - 1) / kBlock;
        auto pack = [&](int part) {
          const Range own = part_of(down, 1, part, threads);
          for (int64_t r = own.begin; r < own.end; ++r)
            pack_a(call, batch, row0 + r * kBlock, std::min(kBlock, here - r * kBlock),
                   a + r * panel_bytes(call));
        };
        auto compute = [&](int part) {
          Unit::begin();
          run_part(call, tiling, batch, row0, here,
                   part_of(down * panels_of(call), 1, part, threads), a,
                   a + blocks.a_bytes(call) + part * blocks.part_bytes());
          Unit::end();
        };
        // A block or two are packed sooner than others are woken.
        if (down <= 2)
          for (int part = 0; part < threads; ++part) pack(part);
        else if (!on_threads(threads, pack))
          return 1;
        if (!on_threads(threads, compute)) return 1;
      }
    return 0;
  }
};

}  // namespace assay::native_cpu
