// A group's sums on their way to out, where columns are gate and up in turns and out is half as
// wide: silu(gate) * up, through shared memory and the copy engine.
#pragma once

#include "swiglu.h"

using Kept = SwigluParts;
__device__ __forceinline__ Kept keep_pair(float gate, float up) { return swiglu_parts(gate, up); }

constexpr int kSlotBytes = 64 * 32 * 2;     // 64 x 32 of out are stored at once, from a place of
constexpr int kSlots = LARGE == 0 ? 4 : 6;  // its own for each part of a group's two halves.

struct Output {
  const TensorMap& map;
  unsigned slots;  // Address of the group's places.
  int group;

  // Of a half first begin, then each of its parts of 64 columns of sums, then end.
  template <class Tile>
  __device__ __forceinline__ void begin() {
    // The stores of this half of the tile before have read their places; the other half's may not.
    if (threadIdx.x % 128 == 0)
      asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Half<Tile>::kParts) : "memory");
    meet(1 + group, 128);
  }

  // A thread has gate and up of columns t and 4 + t of eight. Threads side by side exchange one of
  // them, for two rows at once, so that each holds two columns side by side.
  template <class Tile>
  __device__ __forceinline__ void write(const Kept* kept, int half, int part, int, int) {
    const int lane = threadIdx.x % 32, row = threadIdx.x % 128 / 32 * 16 + lane / 4;
    const bool odd = lane % 2 == 1;
    const unsigned mine = slots + (half * Half<Tile>::kParts + part) * kSlotBytes + row * 64 +
                          lane % 4 / 2 * 4 + lane % 2 * 8;
    unsigned near[4], far[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const Kept* of = kept + part * 16 + j * 4;
      const Pair first = rounded(swiglu_of(of[0]), swiglu_of(of[1]));
      const Pair second = rounded(swiglu_of(of[2]), swiglu_of(of[3]));
      near[j] = reinterpret_cast<const unsigned&>(first);
      far[j] = reinterpret_cast<const unsigned&>(second);
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const unsigned got = __shfl_xor_sync(0xffffffff, odd ? near[j] : far[j], 1);
      near[j] = odd ? got : near[j];
      far[j] = odd ? far[j] : got;
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      // The swizzle of rows of 64 bytes: eight rows down it is the same.
      const unsigned to = mine ^ (row / 2 % 4 ^ j) * 16;
      put(to, __byte_perm(near[j], far[j], 0x5410));
      put(to + 8 * 64, __byte_perm(near[j], far[j], 0x7632));
    }
  }

  template <class Tile>
  __device__ __forceinline__ void end(int half, int row, int column) {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    meet(1 + group, 128);
    if (threadIdx.x % 128 != 0) return;
#pragma unroll
    for (int part = 0; part < Half<Tile>::kParts; ++part)
      store(map, (column + half * Half<Tile>::kColumn + part * 64) / 2,
            row + half * Half<Tile>::kRow, slots + (half * Half<Tile>::kParts + part) * kSlotBytes);
  }

  __device__ __forceinline__ static void put(unsigned to, unsigned value) {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(value) : "memory");
  }
};
