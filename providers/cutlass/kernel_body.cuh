// One configuration as CUTLASS's builders make it; what it is, the lines above this text define.

#include <cuda_runtime.h>

#include <new>

#include "cute/tensor.hpp"
#include "cutlass/cutlass.h"
#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/device/gemm_universal_adapter.h"
#include "cutlass/gemm/kernel/gemm_universal.hpp"
#include "cutlass/kernel_hardware_info.h"

namespace {

using assay_cutlass::Pointers;
using assay_cutlass::Problem;
using assay_cutlass::Strides;

using Tile = cute::Shape<cute::Int<ASSAY_TILE_M>, cute::Int<ASSAY_TILE_N>, cute::Int<ASSAY_TILE_K>>;
using Cluster = cute::Shape<cute::Int<ASSAY_CLUSTER_M>, cute::Int<ASSAY_CLUSTER_N>, cute::_1>;
using ColumnMajor = cutlass::layout::ColumnMajor;
using RowMajor = cutlass::layout::RowMajor;

using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster,
    cutlass::epilogue::collective::EpilogueTileAuto, ASSAY_ACCUMULATE, ASSAY_ACCUMULATE, ASSAY_C,
    ColumnMajor, ASSAY_ALIGNMENT_OUT, ASSAY_D, ColumnMajor, ASSAY_ALIGNMENT_OUT, ASSAY_EPILOGUE,
    cutlass::epilogue::fusion::LinearCombination<ASSAY_D, ASSAY_ACCUMULATE, ASSAY_C,
                                                 ASSAY_ACCUMULATE>>::CollectiveOp;

#if ASSAY_STAGES > 0
using Stages = cutlass::gemm::collective::StageCount<ASSAY_STAGES>;
#else
using Stages = cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
    sizeof(typename Epilogue::SharedStorage))>;
#endif

using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, ASSAY_A, ASSAY_LAYOUT_A,
    ASSAY_ALIGNMENT_IN, ASSAY_A, ASSAY_LAYOUT_B, ASSAY_ALIGNMENT_IN, ASSAY_ACCUMULATE, Tile,
    Cluster, Stages, ASSAY_SCHEDULE>::CollectiveOp;

using GemmKernel = cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop,
                                                        Epilogue, ASSAY_SCHEDULER>;
using Gemm = cutlass::gemm::device::GemmUniversalAdapter<GemmKernel>;
using Arguments = typename Gemm::Arguments;

struct State {
  Arguments arguments;
  typename GemmKernel::Params params;
  void* workspace;
};

constexpr int code_of(cutlass::Status status) {
  return status == cutlass::Status::kSuccess ? 0 : 1000 + static_cast<int>(status);
}

// A stride of CuTe has one element that is known to be 1, and one of a batch.
template <class Stride>
void say(Stride& stride, const Strides& given, int64_t batches, bool outer_is_first) {
  const int64_t leading = outer_is_first ? given.row : given.column;
  if constexpr (cute::is_static<cute::tuple_element_t<0, Stride>>::value)
    cute::get<1>(stride) = leading;
  else
    cute::get<0>(stride) = leading;
  cute::get<2>(stride) = batches > 1 ? given.batch : 0;
}

// Stream-K's scheduler alone has such a member.
template <class Scheduler>
auto say_splits(Scheduler& scheduler, int splits, int) -> decltype(void(scheduler.splits)) {
  scheduler.splits = splits;
}
template <class Scheduler>
void say_splits(Scheduler&, int, long) {}

int hardware(cutlass::KernelHardwareInfo& info) {
  static const int known = [] {
    if (GemmKernel::SharedStorageSize < (48 << 10)) return 0;
    return static_cast<int>(cudaFuncSetAttribute(cutlass::device_kernel<GemmKernel>,
                                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                 GemmKernel::SharedStorageSize));
  }();
  if (known != 0) return known;
  int device = 0;
  if (const cudaError_t code = cudaGetDevice(&device); code != cudaSuccess)
    return static_cast<int>(code);
  static const cutlass::KernelHardwareInfo asked =
      cutlass::KernelHardwareInfo::make_kernel_hardware_info<GemmKernel>(device);
  info = asked;
  return 0;
}

Arguments arguments_of(const Problem& problem, const Pointers& pointers,
                       const cutlass::KernelHardwareInfo& info) {
  Arguments arguments{};
  arguments.mode = cutlass::gemm::GemmUniversalMode::kGemm;
  arguments.problem_shape = {static_cast<int>(problem.m), static_cast<int>(problem.n),
                             static_cast<int>(problem.k), static_cast<int>(problem.batches)};
  auto& main = arguments.mainloop;
  main.ptr_A = static_cast<const ASSAY_A*>(pointers.a);
  main.ptr_B = static_cast<const ASSAY_A*>(pointers.b);
  say(main.dA, problem.a, problem.batches, std::is_same_v<ASSAY_LAYOUT_A, RowMajor>);
  say(main.dB, problem.b, problem.batches, std::is_same_v<ASSAY_LAYOUT_B, RowMajor>);
  auto& out = arguments.epilogue;
  out.thread.alpha = static_cast<ASSAY_ACCUMULATE>(static_cast<float>(problem.alpha));
  out.thread.beta = static_cast<ASSAY_ACCUMULATE>(static_cast<float>(problem.beta));
  out.ptr_D = static_cast<ASSAY_D*>(pointers.d);
  say(out.dD, problem.d, problem.batches, false);
  if constexpr (!std::is_void_v<ASSAY_C>) {
    out.ptr_C = static_cast<const ASSAY_C*>(pointers.c);
    say(out.dC, problem.c, problem.batches, false);
  }
  arguments.hw_info = info;
  auto& scheduler = arguments.scheduler;
  if constexpr (!std::is_const_v<decltype(scheduler.max_swizzle_size)>)
    scheduler.max_swizzle_size = problem.swizzle;
  if constexpr (!std::is_const_v<decltype(scheduler.raster_order)>) {
    using Order = decltype(scheduler.raster_order);
    scheduler.raster_order = problem.raster == 1   ? Order::AlongM
                             : problem.raster == 2 ? Order::AlongN
                                                   : Order::Heuristic;
  }
  say_splits(scheduler, problem.splits, 0);
  return arguments;
}

int can_implement(const Problem* problem, const Pointers* pointers) {
  return code_of(Gemm::can_implement(arguments_of(*problem, *pointers, {})));
}

uint64_t workspace_bytes(const Problem* problem) {
  cutlass::KernelHardwareInfo info;
  if (hardware(info) != 0) return 0;
  return Gemm::get_workspace_size(arguments_of(*problem, {}, info));
}

int initialize(const Problem* problem, const Pointers* pointers, void* state) {
  cutlass::KernelHardwareInfo info;
  if (const int code = hardware(info); code != 0) return code;
  auto* made = new (state) State{};
  made->arguments = arguments_of(*problem, *pointers, info);
  made->workspace = pointers->workspace;
  made->params = GemmKernel::to_underlying_arguments(made->arguments, made->workspace);
  return 0;
}

int run(void* state, void* stream) {
  auto& made = *static_cast<State*>(state);
  const auto on = static_cast<cudaStream_t>(stream);
  // Stream-K counts the parts of a tile there from 0.
  if constexpr (std::is_same_v<ASSAY_SCHEDULER, cutlass::gemm::StreamKScheduler>) {
    const auto cleared = GemmKernel::initialize_workspace(made.arguments, made.workspace, on);
    if (cleared != cutlass::Status::kSuccess) return code_of(cleared);
  }
  return code_of(Gemm::run(made.params, on));
}

const char* message(int code) {
  return code >= 1000 ? cutlass::cutlassGetStatusString(static_cast<cutlass::Status>(code - 1000))
                      : cudaGetErrorString(static_cast<cudaError_t>(code));
}

using TileMma = typename GemmKernel::TiledMma;
constexpr int kAccumulators = static_cast<int>(ASSAY_TILE_M * ASSAY_TILE_N / cute::size(TileMma{}));

constexpr assay_cutlass::Kernel kKernel = {
    assay_cutlass::kVersion,
    sizeof(assay_cutlass::Kernel),
    sizeof(State),
    alignof(State),
    Gemm::kStages,
    static_cast<int32_t>(GemmKernel::MaxThreadsPerBlock),
    static_cast<int32_t>(GemmKernel::SharedStorageSize),
    kAccumulators,
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
