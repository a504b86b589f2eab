// What a Hopper GPU's copy engine (TMA) and its barriers are told, as functions.
#pragma once

struct alignas(64) TensorMap {
  char bytes[128];
};

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void begin(unsigned barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// At a barrier of a block of the cluster. What it would order are reads that are over: hence no
// `.release.cluster`, which costs a fence of all memory.
__device__ __forceinline__ void arrive_at(unsigned barrier, unsigned rank) {
  asm volatile(
      "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
      "r"(rank)
      : "memory");
}

__device__ __forceinline__ void expect(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\nAGAIN:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra AGAIN;\n}" ::"r"(
          barrier),
      "r"(parity)
      : "memory");
}

// A box of the matrix from this row and column on; into this block's shared memory, or
__device__ __forceinline__ void load(unsigned to, const TensorMap& map, int column, int row,
                                     unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
      "[%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(&map), "r"(column), "r"(row), "r"(barrier)
      : "memory");
}

// into that of both blocks of the cluster, at the same place; the barrier of each counts its bytes,
__device__ __forceinline__ void load_for_both(unsigned to, const TensorMap& map, int column,
                                              int row, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(&map), "r"(column), "r"(row), "r"(barrier), "h"(static_cast<unsigned short>(3))
      : "memory");
}

// or no further than L2.
__device__ __forceinline__ void announce(const TensorMap& map, int column, int row) {
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&map),
               "r"(column), "r"(row)
               : "memory");
}

// Behind a fence of the writing threads (fence.proxy.async) and a barrier.
__device__ __forceinline__ void store(const TensorMap& map, int column, int row, unsigned from) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];\n"
      "cp.async.bulk.commit_group;" ::"l"(&map),
      "r"(column), "r"(row), "r"(from)
      : "memory");
}

__device__ __forceinline__ void meet(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
