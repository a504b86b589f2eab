// CUTLASS 3 with Hopper's wgmma.

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "configuration.h"
#include "generation.h"

namespace assay::cutlass {
namespace {

struct Words {
  std::string_view ours, stock, code;
};

// The words of the table, of CUTLASS's names, and its types.
constexpr Words kHopperSchedules[] = {
    {"auto", "", "cutlass::gemm::collective::KernelScheduleAuto"},
    {"tma", "_warpspecialized", "cutlass::gemm::KernelTmaWarpSpecialized"},
    {"pingpong", "_warpspecialized_pingpong", "cutlass::gemm::KernelTmaWarpSpecializedPingpong"},
    {"cooperative", "_warpspecialized_cooperative",
     "cutlass::gemm::KernelTmaWarpSpecializedCooperative"},
    {"cpasync", "_cpasync_warpspecialized", "cutlass::gemm::KernelCpAsyncWarpSpecialized"},
    {"cpasync_cooperative", "_cpasync_warpspecialized_cooperative",
     "cutlass::gemm::KernelCpAsyncWarpSpecializedCooperative"},
};
constexpr Words kHopperEpilogues[] = {
    {"auto", "", "cutlass::epilogue::collective::EpilogueScheduleAuto"},
    {"direct", "_epi_nosmem", "cutlass::epilogue::NoSmemWarpSpecialized"},
    {"tma", "_epi_tma", "cutlass::epilogue::TmaWarpSpecialized"},
};
constexpr Words kHopperSchedulers[] = {
    {"persistent", "", "void"},
    {"stream_k", "_stream_k", "cutlass::gemm::StreamKScheduler"},
};

constexpr std::array<std::string_view, 6> kHopperScheduleNames = {
    "auto", "tma", "pingpong", "cooperative", "cpasync", "cpasync_cooperative"};
constexpr std::array<std::string_view, 1> kHopperTargets = {"sm_90a"};
constexpr std::array<Code, 1> kHopperCodes = {{{"", "sm_90a"}}};
constexpr std::array<std::string_view, 9> kHopperAttributes = {
    "tile_m", "tile_n",   "tile_k",   "cluster_m", "cluster_n",
    "stages", "schedule", "epilogue", "scheduler"};

// Raster order and swizzle are said as CUTLASS takes them; it swizzles less where there are few
// tiles.
constexpr std::array<Runtime, 9> kHopperRuntimes = {{{},
                                                     {"along_m", 1, 1},
                                                     {"along_n", 1, 1},
                                                     {"along_m", 4, 1},
                                                     {"along_n", 4, 1},
                                                     {"along_m", 8, 1},
                                                     {"along_n", 8, 1},
                                                     {"heuristic", 1, 2},
                                                     {"heuristic", 1, 4}}};

// What makes workspaces larger than this is not listed anywhere: more tiles at once than any Hopper
// GPU has multiprocessors (144 on the full die).
constexpr int64_t kMostMultiprocessors = 144;
constexpr int64_t kBarrierBytes = 16, kSlack = 4096;  // Of a tile; for what is rounded up.

template <size_t kCount>
const Words* find(const Words (&all)[kCount], std::string_view ours) {
  for (const Words& words : all)
    if (words.ours == ours) return &words;
  return nullptr;
}

std::string read_wgmma(const std::vector<std::string_view>& words, Design& design) {
  if (words.size() != 10) return "a design has nine words";
  int* const numbers[] = {&design.tile_m,    &design.tile_n,    &design.tile_k,
                          &design.cluster_m, &design.cluster_n, &design.stages};
  for (size_t i = 0; i < std::size(numbers); ++i)
    if (!read_number(words[i + 1], i == 5 ? 0 : 1, *numbers[i]))
      return "a tile, cluster or number of stages is none";
  if (find(kHopperSchedules, words[7]) == nullptr || find(kHopperEpilogues, words[8]) == nullptr ||
      find(kHopperSchedulers, words[9]) == nullptr)
    return "a schedule, epilogue or tile scheduler is not known";
  design.schedule = words[7];
  design.epilogue = words[8];
  design.scheduler = words[9];
  return {};
}

std::string hopper_name(const Configuration& configuration) {
  const Design& is = configuration.design;
  const Operands& operands = configuration.operands;
  const Words* const schedule = find(kHopperSchedules, is.schedule);
  const Words* const epilogue = find(kHopperEpilogues, is.epilogue);
  const Words* const scheduler = find(kHopperSchedulers, is.scheduler);
  const auto layout = [](bool row_major) { return row_major ? 't' : 'n'; };
  return fmt::format(
      "cutlass3x_sm90_tensorop_gemm_{0}_{0}_{1}_{2}_{3}_{4}x{5}x{6}_{7}x{8}x1_{9}_{10}{11}n_align"
      "{12}{13}{14}{15}",
      to_string(operands.a), to_string(operands.accumulate),
      operands.reads_c ? to_string(operands.d) : "void", to_string(operands.d), is.tile_m,
      is.tile_n, is.tile_k, is.cluster_m, is.cluster_n, is.stages, layout(operands.a_row_major),
      layout(operands.b_row_major), operands.alignment_in, scheduler ? scheduler->stock : "",
      schedule ? schedule->stock : "", epilogue ? epilogue->stock : "");
}

Result<std::string> hopper_defines(const Configuration& configuration) {
  const Design& design = configuration.design;
  const Words* const schedule = find(kHopperSchedules, design.schedule);
  const Words* const epilogue = find(kHopperEpilogues, design.epilogue);
  const Words* const scheduler = find(kHopperSchedulers, design.scheduler);
  if (schedule == nullptr || epilogue == nullptr || scheduler == nullptr)
    return fail(ErrorCode::invalid_input, "no configuration of CUTLASS is {}, {}, {}",
                design.schedule, design.epilogue, design.scheduler);
  std::string epilogue_code(epilogue->code);
  if (design.epilogue == "tma" && design.schedule.ends_with("cooperative"))
    epilogue_code += "Cooperative";
  Defines define(configuration);
  define("CLUSTER_M", design.cluster_m);
  define("CLUSTER_N", design.cluster_n);
  define("STAGES", design.stages);
  define("SCHEDULE", schedule->code);
  define("EPILOGUE", epilogue_code);
  define("SCHEDULER", scheduler->code);
  return define.text();
}

// As the stream-K scheduler's sizes: one tile of sums in f32 for each tile that several compute,
// which are all of them where k is split, and else no more than two waves have.
int64_t stream_k_bytes(const KernelMetadata& row, int64_t m, int64_t n, int64_t l) {
  if (row.design.text("scheduler", "") != "stream_k") return 0;
  const Runtime runtime = runtime_of(row);
  const int64_t tile_m = row.design.integer("tile_m", 1), tile_n = row.design.integer("tile_n", 1);
  const int64_t all = tiles(m, tile_m, runtime.swizzle * row.design.integer("cluster_m", 1)) *
                      tiles(n, tile_n, runtime.swizzle * row.design.integer("cluster_n", 1)) * l;
  const int64_t shared = runtime.split_k > 1 ? all : std::min(all, 3 * kMostMultiprocessors);
  return shared * (tile_m * tile_n * 4 + kBarrierBytes) + kSlack;
}

}  // namespace

const Generation& sm90() {
  static const Generation generation = {
      .family = "gemm",
      .level = "",
      .table = "configurations.txt",
      .letter = "d",
      .body = "kernel_body.cuh",
      .schedules = kHopperScheduleNames,
      .targets = kHopperTargets,
      .codes = kHopperCodes,
      .runtimes = kHopperRuntimes,
      .compile_seconds = 45,  // Measured 40 to 50, CUDA 13.0.
      .d_row_major = false,
      .slower_on_hopper = false,
      .names_c = true,
      .row_name =
          "{tile_m}x{tile_n}x{tile_k}_{cluster_m}x{cluster_n}_{schedule}_{epilogue}_"
          "{scheduler}",
      .attributes = kHopperAttributes,
      .read_design = &read_wgmma,
      .stock_name = &hopper_name,
      .defines = &hopper_defines,
      .splits_k = [](const Design& design) { return design.scheduler == "stream_k"; },
      .add_refusals = [](const KernelMetadata&, const gemm::View&, const Target&, Refusals&) {},
      .most_workspace_bytes = &stream_k_bytes,
  };
  return generation;
}

}  // namespace assay::cutlass
