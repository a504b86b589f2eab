// A group's sums on their way to out, through shared memory and the copy engine.
#pragma once

using Kept = Pair;
__device__ __forceinline__ Kept keep_pair(float x, float y) { return rounded(x, y); }

constexpr int kSlotBytes = 64 * 64 * 2;     // 64 x 64 of out are stored at once, from one of
constexpr int kSlots = LARGE == 0 ? 2 : 3;  // so many places a group.

struct Output {
  const TensorMap& map;
  unsigned slots;  // Address of the group's places.
  int group, slot = 0;

  // Of a half first begin, then each of its parts of 64 columns, then end.
  template <class Tile>
  __device__ __forceinline__ void begin() {}

  template <class Tile>
  __device__ __forceinline__ void write(const Kept* kept, int half, int part, int row, int column) {
    // stmatrix writes four matrices of 8 x 8, two down and two across: this lane's row of them,
    // and its 16 bytes of it, which lie where the swizzle has them.
    const int thread = threadIdx.x % 128, lane = threadIdx.x % 32;
    const int out_row = thread / 32 * 16 + lane % 16, out_piece = lane / 16;
    const unsigned to = slots + slot * kSlotBytes;
    slot = slot + 1 == kSlots ? 0 : slot + 1;
    // What lay here has been read.
    if (thread == 0) asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kSlots - 1) : "memory");
    meet(1 + group, 128);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      unsigned words[4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        words[i] = reinterpret_cast<const unsigned&>(kept[part * 16 + j * 4 + i]);
      asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                       to + out_row * 128 + ((j * 2 + out_piece) ^ out_row % 8) * 16),
                   "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
                   : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    meet(1 + group, 128);
    if (thread == 0)
      store(map, column + half * Half<Tile>::kColumn + part * 64, row + half * Half<Tile>::kRow,
            to);
  }

  template <class Tile>
  __device__ __forceinline__ void end(int, int, int) {}
};
