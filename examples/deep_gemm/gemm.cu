// A GEMM of DeepGEMM (its kernel for Hopper and bf16: TMA, wgmma, persistent) out of DeepGEMM's own
// headers, which are not part of this folder: README.md says how to put them here.
//
// assay: {name: deep_gemm, entry: gemm, dtype: bf16, accumulate: f32, layout: tn,
//         args: [out, m, n, k, map_a, map_b, map_out], specialised_on: [n, k],
//         alignment: 16, divisibility: {n: 8, k: 8}, targets: [sm_90a],
//         tunables: {TILE_M: [64, 128, 256], TILE_N: [64, 128, 192, 256],
//                    CLUSTER_M: [1, 2], CLUSTER_N: [1, 2]},
//         constraints: [CLUSTER_M * CLUSTER_N <= 2, TILE_M <= 128 or TILE_N <= 128],
//         flags: [-std=c++20, -DNDEBUG, --device-int128, "--diag-suppress=161,1105",
//                 --ptxas-options=--register-usage-level=10],
//         launch: {grid: 132, block: "128 + 128 * min(2, TILE_M // 64)",
//                  cluster: CLUSTER_M * CLUSTER_N, shared: 232448, dependent: true,
//                  maps: {a: {box: [64, TILE_M], swizzle: 128, promotion: 256},
//                         b: {box: [64, TILE_N], swizzle: 128, promotion: 256},
//                         out: {box: [64, TILE_M], swizzle: 128, promotion: 256}}}}
//
// All of it is as DeepGEMM's own launcher has it: as many blocks as an H100 or H200 has
// multiprocessors, whatever the problem; n and k known when it is compiled; as many stages as fit
// into shared memory; and a kernel that waits for its predecessor by itself. The first argument is
// read by grouped GEMMs alone: any pointer will do.
#ifdef __CUDACC_RTC__
#include <cuda_device_runtime_api.h>  // The kernel wants it, and only nvcc includes it unasked.
#endif
#include <cutlass/detail/helper_macros.hpp>
// CUTLASS makes its kernels static, which leaves a local symbol: nothing that a loader has to find.
#undef CUTLASS_GLOBAL
#define CUTLASS_GLOBAL __global__
#include <deep_gemm/impls/sm90_bf16_gemm.cuh>

#ifndef ASSAY_N  // Compiled by nvcc, for sizes of run time.
#define ASSAY_N 0
#define ASSAY_K 0
#endif

namespace {

constexpr unsigned kMultiprocessors = 132;
constexpr unsigned kDepth = 64;  // Of k in a stage: 128 bytes, the width of the swizzle.
constexpr unsigned kSwizzle = 128;
constexpr unsigned kCopying = 128;  // Threads.
constexpr unsigned kMultiplying = TILE_M <= 64 ? 128 : 256;
constexpr unsigned kOutBytes = TILE_M * TILE_N * 2;
constexpr unsigned kBarrierBytes = 256;  // Two for each of 16 stages.
constexpr unsigned kFitting =
    (232448 - kBarrierBytes - kOutBytes) / ((TILE_M + TILE_N) * kDepth * 2);
constexpr unsigned kStages = kFitting < 16 ? kFitting : 16;

constexpr auto& gemm = deep_gemm::sm90_bf16_gemm_impl<
    cute::UMMA::Major::K, cute::UMMA::Major::K, /*m=*/0, ASSAY_N, ASSAY_K, /*groups=*/1, TILE_M,
    TILE_N, kDepth, kSwizzle, kSwizzle, kSwizzle, kStages, kCopying, kMultiplying,
    CLUSTER_M * CLUSTER_N, /*a is shared=*/(CLUSTER_N > 1), kMultiprocessors,
    deep_gemm::GemmType::Normal, /*added to out=*/false, cutlass::bfloat16_t>;

#ifndef __CUDACC_RTC__
[[maybe_unused]] const auto instantiated = &gemm;  // NVRTC is told of the entry; nvcc is not.
#endif

}  // namespace
