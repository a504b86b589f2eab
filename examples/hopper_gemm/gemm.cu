// GEMM for a Hopper card as one CUDA file without host code: tiles of 128 x 128, a warp that keeps
// the copy engine (TMA) busy, and two groups of four warps that multiply (wgmma).
//
// assay: {name: hopper_gemm, entry: gemm, dtype: [f16, bf16], layout: tn, targets: [sm_90a],
//         args: [map_a, map_b, out, m, n, k], alignment: 16, tunables: {STAGES: [3, 4, 5, 6]},
//         constraints: [k % 8 == 0, n % 2 == 0],
//         launch: {grid: [ceil_div(n, 128), ceil_div(m, 128)], block: 288,
//                  shared: STAGES * 32768 + 1024,
//                  maps: {a: {box: [64, 128], swizzle: 128}, b: {box: [64, 128], swizzle: 128}}}}
//
// The maps see a as [m, k] and b as [n, k]: a box is 128 rows of 64 elements, swizzled as wgmma
// reads it. What lies beyond an edge arrives as zeros, so that k needs no tail.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct alignas(64) TensorMap {
  char bytes[128];
};

namespace {

#if ASSAY_A_BF16
using Element = __nv_bfloat16;
using Pair = __nv_bfloat162;
#define TYPES "bf16.bf16"
__device__ Pair rounded(float x, float y) { return __floats2bfloat162_rn(x, y); }
#else
using Element = __half;
using Pair = __half2;
#define TYPES "f16.f16"
__device__ Pair rounded(float x, float y) { return __floats2half2_rn(x, y); }
#endif

constexpr int kTile = 128;  // Rows of a, and rows of b, of a block.
constexpr int kDepth = 64;  // Elements of k in a stage: 128 bytes, the width of the swizzle.
constexpr int kPartBytes = kTile * kDepth * 2;
constexpr int kStageBytes = 2 * kPartBytes;  // Of a, then of b.
constexpr int kMultiplying = 256;            // Threads; one warp more copies.

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void begin(unsigned barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ void expect(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ void wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\nAGAIN:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra AGAIN;\n}" ::"r"(
          barrier),
      "r"(parity)
      : "memory");
}

__device__ void copy(unsigned to, const TensorMap* map, int column, int row, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
      "[%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(map), "r"(column), "r"(row), "r"(barrier)
      : "memory");
}

// A matrix in shared memory as wgmma is told of it: rows of 128 swizzled bytes, groups of eight
// rows 1024 bytes apart. Source: PTX ISA, "Matrix descriptor".
__device__ unsigned long long descriptor(unsigned address) {
  return static_cast<unsigned long long>(address >> 4 & 0x3fff) | 1ULL << 16 | 64ULL << 32 |
         1ULL << 62;
}

// d (64 x 128 of a group of four warps) += a (64 x 16) b^T (128 x 16).
__device__ void multiply(float (&d)[64], unsigned long long a, unsigned long long b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32." TYPES
               " {"
               "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
               "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
               "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
               "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
               "}, %64, %65, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
                 "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]),
                 "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]),
                 "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
                 "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]),
                 "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]),
                 "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]),
                 "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
                 "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]),
                 "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]),
                 "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
               : "l"(a), "l"(b));
}

}  // namespace

__global__ void __launch_bounds__(kMultiplying + 32, 1)
    gemm(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b,
         Element* out, int m, int n, int k) {
  extern __shared__ char memory[];
  __shared__ unsigned long long full[STAGES], empty[STAGES];
  const unsigned stages = (shared_address(memory) + 1023) / 1024 * 1024;
  const int steps = (k + kDepth - 1) / kDepth;
  const int first_row = blockIdx.y * kTile, first_column = blockIdx.x * kTile;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      begin(shared_address(&full[s]), 1);
      begin(shared_address(&empty[s]), kMultiplying / 32);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();

  if (threadIdx.x >= kMultiplying) {
    if (threadIdx.x > kMultiplying) return;
    for (int i = 0; i < steps; ++i) {
      const int s = i % STAGES;
      // Each stage is free at first: the wait for a phase that never was passes.
      wait(shared_address(&empty[s]), i / STAGES % 2 ^ 1);
      const unsigned barrier = shared_address(&full[s]), stage = stages + s * kStageBytes;
      expect(barrier, kStageBytes);
      copy(stage, &map_a, i * kDepth, first_row, barrier);
      copy(stage + kPartBytes, &map_b, i * kDepth, first_column, barrier);
    }
    return;
  }

  const int group = threadIdx.x / 128;
  float d[64] = {};
  for (int i = 0; i < steps; ++i) {
    const int s = i % STAGES;
    wait(shared_address(&full[s]), i / STAGES % 2);
    const unsigned a = stages + s * kStageBytes + group * (kPartBytes / 2);
    const unsigned b = stages + s * kStageBytes + kPartBytes;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int part = 0; part < kDepth / 16; ++part)
      multiply(d, descriptor(a + part * 32), descriptor(b + part * 32));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    // The stage before this one has been read.
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    if (i > 0 && threadIdx.x % 32 == 0) arrive(shared_address(&empty[(i - 1) % STAGES]));
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");

  const int row = first_row + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
  for (int i = 0; i < 16; ++i) {
    const int column = first_column + i * 8 + threadIdx.x % 4 * 2;
    if (column >= n) break;
    for (int half = 0; half < 2; ++half)
      if (row + half * 8 < m)
        *reinterpret_cast<Pair*>(out + static_cast<size_t>(row + half * 8) * n + column) =
            rounded(d[i * 4 + half * 2], d[i * 4 + half * 2 + 1]);
  }
}
