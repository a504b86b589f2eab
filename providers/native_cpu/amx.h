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
    int64_t rows;    // Of a, packed at a time: whole blocks.
    int64_t steps;   // Of k, in a block of b.
    int64_t panels;  // Of 32 columns, in a block of b that is packed on the way.
    Blocks(const GemmCall& call, const Tiling& tiling) {
      const int64_t all = std::max<int64_t>(steps_of(call.k), 1);
      steps = tiling.kc == 0 ? all : std::min(all, steps_of(tiling.kc));
      rows = tiling.mc == 0 ? call.m : std::min<int64_t>(call.m, tiling.mc);
      rows = std::max((rows + kBlock - 1) / kBlock * kBlock, kBlock);
      const int64_t width = Prepared || tiling.nc == 0 ? 1 : (tiling.nc + kBlock - 1) / kBlock;
      panels = std::clamp<int64_t>(width, 1, std::max<int64_t>(panels_of(call), 1));
    }
    int64_t a_bytes(const GemmCall& call) const {
      return rows / kBlock * AmxKernel::steps_of(call.k) * kStepBytes;
    }
    int64_t b_bytes() const { return Prepared ? 0 : panels * steps * kStepBytes; }
    int64_t part_bytes() const { return b_bytes() + panels * rows * kBlock * 4; }  // Of one thread.
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
        pack_b(call, batch, {j / kBlock, j / kBlock + 1}, 0, call.k, out);
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

  // kk of k, from k0 on, of panels of b as tiles hold them: [panel][step][tile of 16 columns]; a
  // row of a tile has 16 columns, of each kPack values of k. It is read along its lines in memory.
  static void pack_b(const GemmCall& call, int64_t batch, Range panels, int64_t k0, int64_t kk,
                     std::byte* out) {
    const auto* b = static_cast<const Source*>(call.b) + batch * call.b_batch + k0 * call.b_row;
    const int64_t steps = steps_of(kk);
    const auto pack = [&](int64_t tile, int64_t s) {
      const int64_t column = (panels.begin * 2 + tile) * kHalf;
      const Source* from = b + s * kDepth * call.b_row + column * call.b_column;
      std::byte* const to = out + (tile / 2 * steps + s) * kStepBytes + tile % 2 * kTile;
      const int64_t depth = std::min(kDepth, kk - s * kDepth);
      const int64_t width = std::min(kHalf, call.n - column);
      if (depth == kDepth && width == kHalf && call.b_row == 1)
        transpose_tile(from, call.b_column, to);
      else if (depth == kDepth && width == kHalf && call.b_column == 1)
        interleave_tile(from, call.b_row, to);
      else
        gather_tile(call, from, depth, width, to);
    };
    const int64_t tiles = panels.size() * 2;
    if (call.b_column == 1) {
      for (int64_t s = 0; s < steps; ++s) {
        int64_t tile = 0;
        if constexpr (sizeof(Source) == 2)
          if ((s + 1) * kDepth <= kk) {
            const int64_t whole =
                std::min(panels.size(), (call.n - panels.begin * kBlock) / kBlock);
            interleave_panels(b + s * kDepth * call.b_row + panels.begin * kBlock, call.b_row,
                              whole, out + s * kStepBytes, steps * kStepBytes);
            tile = whole * 2;
          }
        for (; tile < tiles; ++tile) pack(tile, s);
      }
    } else {
      for (int64_t tile = 0; tile < tiles; ++tile)
        for (int64_t s = 0; s < steps; ++s) pack(tile, s);
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
  // A step of whole panels, two rows of b after the other, so that each line is read once. Rows
  // that come soon are asked for: each may lie on a page of its own.
  static void interleave_panels(const Source* from, int64_t stride, int64_t panels, std::byte* out,
                                int64_t panel_bytes) {
    const __m512i left = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i right = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    for (int64_t r = 0; r < 16; ++r, from += 2 * stride, out += 64)
      for (int64_t panel = 0; panel < panels; ++panel) {
        const Source* const here = from + panel * kBlock;
        __builtin_prefetch(here + 8 * stride);
        __builtin_prefetch(here + 9 * stride);
        const __m512i even = _mm512_loadu_si512(here);
        const __m512i odd = _mm512_loadu_si512(here + stride);
        const __m512i low = _mm512_unpacklo_epi16(even, odd);
        const __m512i high = _mm512_unpackhi_epi16(even, odd);
        std::byte* const to = out + panel * panel_bytes;
        _mm512_store_si512(to, _mm512_permutex2var_epi64(low, left, high));
        _mm512_store_si512(to + kTile, _mm512_permutex2var_epi64(low, right, high));
      }
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
    const int64_t down = (here + kBlock - 1) / kBlock, steps = steps_of(call.k);
    for (int64_t unit = units.begin; unit < units.end;) {
      const int64_t panel = unit / down;
      const Range panels{panel, std::min(panel + blocks.panels, (units.end + down - 1) / down)};
      const Range own{unit, std::min(units.end, panels.end * down)};
      unit = own.end;
      int64_t s = 0;
      do {
        const int64_t count = std::min(blocks.steps, steps - s);
        if (!Prepared)
          pack_b(call, batch, panels, s * kDepth, std::min(count * kDepth, call.k - s * kDepth),
                 space);
        multiply_block({call, tiling, batch, row0, here, own, panels, a, space}, s, count);
        s += blocks.steps;
      } while (s < steps);
    }
  }

  struct Part {
    const GemmCall& call;
    const Tiling& tiling;
    int64_t batch, row0, here;
    Range own, panels;
    const std::byte* a;
    std::byte* space;
  };

  // All of a thread's blocks of sums in some panels, by `count` steps from step s on.
  static void multiply_block(const Part& part, int64_t s, int64_t count) {
    const auto& [call, tiling, batch, row0, here, own, panels, a, space] = part;
    const Blocks blocks(call, tiling);
    const int64_t steps = steps_of(call.k), down = (here + kBlock - 1) / kBlock;
    const bool last = s + count >= steps;
    for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
      const int64_t j = panel * kBlock, at = panel - panels.begin;
      const Range rows{std::max(own.begin - panel * down, int64_t{0}),
                       std::min(own.end - panel * down, down)};
      auto* const sums =
          reinterpret_cast<Sum*>(space + blocks.b_bytes()) + at * blocks.rows * kBlock;
      const std::byte* const b =
          Prepared ? static_cast<const std::byte*>(call.panels) +
                         (batch * panels_of(call) + panel) * panel_bytes(call) + s * kStepBytes
                   : space + at * count * kStepBytes;
      // Rows whose tiles of sums are outputs as they stand.
      const int64_t whole =
          stores_sums<Mode>(call) && call.n - j >= kBlock ? here / kHalf * kHalf : 0;
      for (int64_t r = rows.begin; r < rows.end; ++r) {
        const int64_t left = here - r * kBlock;
        const Sums compact{reinterpret_cast<std::byte*>(sums + r * kBlock * kBlock), kBlock * 4};
        Sums to = compact;
        if (last && r * kBlock + std::min(left, kBlock) <= whole)
          to = {static_cast<std::byte*>(call.d) +
                    (batch * call.d_batch + (row0 + r * kBlock) * call.d_row + j) * 4,
                call.d_row * 4};
        (left > kHalf ? &multiply<2>
                      : &multiply<1>)(count, a + (r * steps + s) * kStepBytes, b,
                                      s > 0 ? compact : Sums{}, to,
                                      ask(tiling, b, count, r - rows.begin, rows.size()));
      }
      const int64_t first = std::max(rows.begin * kBlock, whole / kBlock * kBlock);
      const int64_t end = std::min(rows.end * kBlock, here);
      if (last && whole < end && first < end)
        finish_tile<Mode, 2>(call, batch, row0 + first, end - first, j,
                             std::min(kBlock, call.n - j), sums + first * kBlock, nullptr);
    }
  }

  struct Sums {
    std::byte* at;
    int64_t line;  // Bytes from one row to the next.
  };

  // 16 or 32 rows by 32 columns of sums. They begin with those of `before`, or nowhere with zero.
  template <int Down>
  static void multiply(int64_t steps, const std::byte* a, const std::byte* b, Sums before, Sums to,
                       Ask next) {
    if (before.at != nullptr) {
      std::byte* const lower = before.at + kHalf * before.line;
      Unit::template load<0>(before.at, before.line);
      Unit::template load<1>(before.at + 64, before.line);
      if (Down == 2) Unit::template load<2>(lower, before.line);
      if (Down == 2) Unit::template load<3>(lower + 64, before.line);
    } else {
      Unit::template zero<0>();
      Unit::template zero<1>();
      if (Down == 2) Unit::template zero<2>();
      if (Down == 2) Unit::template zero<3>();
    }
    const std::byte* output = to.at;
    int64_t outputs = to.at == before.at ? 0 : Down * kHalf;
    for (int64_t s = 0; s < steps; ++s, a += kStepBytes, b += kStepBytes) {
      for (int64_t i = 0; i < next.lines; ++i, next.at += 64) __builtin_prefetch(next.at, 0, 2);
      // Where no cache holds the place of the sums, it comes while they are made.
      for (int64_t i = std::min<int64_t>(outputs, 2); i > 0; --i, --outputs, output += to.line) {
        __builtin_prefetch(output, 1, 2);
        __builtin_prefetch(output + 64, 1, 2);
      }
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
    std::byte* const upper = to.at;
    std::byte* const lower = upper + kHalf * to.line;
    Unit::template store<0>(upper, to.line);
    Unit::template store<1>(upper + 64, to.line);
    if (Down == 2) Unit::template store<2>(lower, to.line);
    if (Down == 2) Unit::template store<3>(lower + 64, to.line);
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
