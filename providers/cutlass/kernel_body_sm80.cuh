// One configuration of CUTLASS 2's kernels (mma.sync, cp.async); what it is, the lines above this
// text define. D is row-major here: the threadblock's M runs along its rows, as CUTLASS's names of
// column-major kernels count it too, which are launched transposed.

#include <cuda_runtime.h>

#include <new>

#include "cutlass/cutlass.h"
#include "cutlass/device_kernel.h"
#include "cutlass/epilogue/thread/linear_combination.h"
#include "cutlass/gemm/kernel/default_gemm_universal.h"
#include "cutlass/gemm/threadblock/threadblock_swizzle.h"

namespace {

using assay_cutlass::Pointers;
using assay_cutlass::Problem;
using assay_cutlass::Strides;

using RowMajor = cutlass::layout::RowMajor;
using Swizzle = cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<8>;
using Epilogue = cutlass::epilogue::thread::LinearCombination<ASSAY_D, ASSAY_ALIGNMENT_OUT,
                                                              ASSAY_ACCUMULATE, ASSAY_ACCUMULATE>;
using GemmKernel = typename cutlass::gemm::kernel::DefaultGemmUniversal<
    ASSAY_A, ASSAY_LAYOUT_A, cutlass::ComplexTransform::kNone, ASSAY_ALIGNMENT_IN, ASSAY_A,
    ASSAY_LAYOUT_B, cutlass::ComplexTransform::kNone, ASSAY_ALIGNMENT_IN, ASSAY_D, RowMajor,
    ASSAY_ACCUMULATE, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
    cutlass::gemm::GemmShape<ASSAY_TILE_M, ASSAY_TILE_N, ASSAY_TILE_K>,
    cutlass::gemm::GemmShape<ASSAY_TILE_M / ASSAY_WARPS_M, ASSAY_TILE_N / ASSAY_WARPS_N,
                             ASSAY_TILE_K>,
    cutlass::gemm::GemmShape<16, 8, 16>, Epilogue, Swizzle, ASSAY_STAGES,
    cutlass::arch::OpMultiplyAdd>::GemmKernel;
using Arguments = typename GemmKernel::Arguments;
using Params = typename GemmKernel::Params;

constexpr int kSharedBytes = static_cast<int>(sizeof(typename GemmKernel::SharedStorage));
constexpr unsigned kMostBlocks = 65535;  // Along the grid's y and z.

struct State {
  Params params;
  dim3 grid;
  void* workspace;
};

constexpr int code_of(cutlass::Status status) {
  return status == cutlass::Status::kSuccess ? 0 : 1000 + static_cast<int>(status);
}

template <class Layout>
int64_t leading(const Strides& given) {
  return std::is_same<Layout, RowMajor>::value ? given.row : given.column;
}

Params params_of(const Problem& problem, const Pointers& pointers) {
  const bool batched = problem.batches > 1;
  const auto factor = [](double value) {
    return static_cast<ASSAY_ACCUMULATE>(static_cast<float>(value));
  };
  const auto batch = [&](const Strides& given) { return batched ? given.batch : 0; };
  const Arguments arguments(
      batched ? cutlass::gemm::GemmUniversalMode::kBatched
              : cutlass::gemm::GemmUniversalMode::kGemm,
      {static_cast<int>(problem.m), static_cast<int>(problem.n), static_cast<int>(problem.k)},
      batched ? static_cast<int>(problem.batches) : problem.splits,
      {factor(problem.alpha), factor(problem.beta)}, pointers.a, pointers.b, pointers.c,
      pointers.d, batch(problem.a), batch(problem.b), batch(problem.c), batch(problem.d),
      leading<ASSAY_LAYOUT_A>(problem.a), leading<ASSAY_LAYOUT_B>(problem.b), problem.c.row,
      problem.d.row);
  Params params(arguments, 0, 0);
  // Else as CUTLASS's swizzle of 8 chooses.
  if (problem.raster != 0)
    params.swizzle_log_tile = problem.swizzle >= 8   ? 3
                              : problem.swizzle >= 4 ? 2
                              : problem.swizzle >= 2 ? 1
                                                     : 0;
  return params;
}

dim3 grid_of(const Params& params) {
  const auto m = static_cast<unsigned>(params.grid_tiled_shape.m());
  const auto n = static_cast<unsigned>(params.grid_tiled_shape.n());
  const unsigned wide = 1u << params.swizzle_log_tile;
  return dim3(m * wide, (n + wide - 1) / wide, static_cast<unsigned>(params.grid_tiled_shape.k()));
}

// More than 48 KiB have to be asked for.
int hardware() {
  static const int known = [] {
    if (kSharedBytes < (48 << 10)) return 0;
    return static_cast<int>(cudaFuncSetAttribute(
        cutlass::Kernel2<GemmKernel>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  }();
  return known;
}

int can_implement(const Problem* problem, const Pointers* pointers) {
  const Params params = params_of(*problem, *pointers);
  const dim3 grid = grid_of(params);
  if (grid.y > kMostBlocks || grid.z > kMostBlocks ||
      (problem->batches > 1 && problem->splits > 1))
    return code_of(cutlass::Status::kErrorInvalidProblem);
  return code_of(GemmKernel::can_implement(params.problem_size));
}

uint64_t workspace_bytes(const Problem* problem) {
  return params_of(*problem, {}).get_workspace_size();
}

int initialize(const Problem* problem, const Pointers* pointers, void* state) {
  if (const int code = hardware(); code != 0) return code;
  auto* made = new (state) State{};
  made->params = params_of(*problem, *pointers);
  made->grid = grid_of(made->params);
  made->workspace = pointers->workspace;
  return 0;
}

int run(void* state, void* stream) {
  auto& made = *static_cast<State*>(state);
  const auto on = static_cast<cudaStream_t>(stream);
  // Blocks that share a tile take turns by counters there, which begin at 0.
  if (made.params.get_workspace_size() > 0) {
    const auto cleared = made.params.init_workspace(made.workspace, on);
    if (cleared != cutlass::Status::kSuccess) return code_of(cleared);
  }
  cutlass::Kernel2<GemmKernel>
      <<<made.grid, GemmKernel::kThreadCount, kSharedBytes, on>>>(made.params);
  return static_cast<int>(cudaGetLastError());
}

const char* message(int code) {
  return code >= 1000 ? cutlass::cutlassGetStatusString(static_cast<cutlass::Status>(code - 1000))
                      : cudaGetErrorString(static_cast<cudaError_t>(code));
}

constexpr assay_cutlass::Kernel kKernel = {
    assay_cutlass::kVersion,
    sizeof(assay_cutlass::Kernel),
    sizeof(State),
    alignof(State),
    GemmKernel::kStages,
    GemmKernel::kThreadCount,
    kSharedBytes,
    ASSAY_TILE_M * ASSAY_TILE_N / GemmKernel::kThreadCount,
    can_implement,
    workspace_bytes,
    initialize,
    run,
    message,
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const assay_cutlass::Kernel*
assay_cutlass_kernel() {
  return &kKernel;
}
