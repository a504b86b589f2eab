// CUTLASS 2 with Ampere's mma.sync, for GPUs before Hopper.

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "assay/device/cuda/limits.h"
#include "assay/device/device_facts.h"
#include "configuration.h"
#include "generation.h"

namespace assay::cutlass {
namespace {

constexpr std::array<std::string_view, 1> kAmpereSchedules = {"multistage"};
constexpr std::array<std::string_view, 6> kAmpereTargets = {"sm_80", "sm_86", "sm_87",
                                                            "sm_89", "sm_90", "sm_90a"};
// A cubin runs on the GPUs of its major version.
constexpr std::array<Code, 2> kAmpereCodes = {{{"sm_9", "sm_90"}, {"", "sm_80"}}};
constexpr std::array<std::string_view, 7> kAmpereAttributes = {
    "tile_m", "tile_n", "tile_k", "warps_m", "warps_n", "stages", "schedule"};

// Blocks run along m, in columns of tiles as wide as the swizzle; parts of k are added by the
// blocks of a tile one after another.
constexpr std::array<Runtime, 9> kAmpereRuntimes = {{{},
                                                     {"along_m", 1, 1},
                                                     {"along_m", 2, 1},
                                                     {"along_m", 4, 1},
                                                     {"along_m", 8, 1},
                                                     {"heuristic", 1, 2},
                                                     {"heuristic", 1, 4},
                                                     {"heuristic", 1, 8},
                                                     {"heuristic", 1, 16}}};

std::string read_multistage(const std::vector<std::string_view>& words, Design& design) {
  if (words.size() != 7) return "a design has six words";
  int* const numbers[] = {&design.tile_m,  &design.tile_n,  &design.tile_k,
                          &design.warps_m, &design.warps_n, &design.stages};
  for (size_t i = 0; i < std::size(numbers); ++i)
    if (!read_number(words[i + 1], 1, *numbers[i]))
      return "a tile, number of warps or of stages is none";
  if (design.tile_m % design.warps_m != 0 || design.tile_n % design.warps_n != 0)
    return "warps do not divide their tile";
  design.schedule = kAmpereSchedules.front();
  return {};
}

// Its layouts are those of the transposed problem, whose D is column-major.
std::string ampere_name(const Configuration& configuration) {
  const Design& is = configuration.design;
  const Operands& operands = configuration.operands;
  const auto layout = [](bool row_major) { return row_major ? 't' : 'n'; };
  const bool half_sums = operands.accumulate == DType::f16;
  std::string types = half_sums ? "h16816gemm" : "s16816gemm";
  if (operands.d != operands.accumulate) types = fmt::format("{}_{}", to_string(operands.d), types);
  if (operands.a != operands.accumulate) types += fmt::format("_{}", to_string(operands.a));
  return fmt::format("cutlass_tensorop_{}_{}x{}_{}x{}_{}{}_align{}", types, is.tile_m, is.tile_n,
                     is.tile_k, is.stages, layout(!operands.b_row_major),
                     layout(!operands.a_row_major), operands.alignment_in);
}

Result<std::string> ampere_defines(const Configuration& configuration) {
  const Design& is = configuration.design;
  Defines define(configuration);
  define("WARPS_M", is.warps_m);
  define("WARPS_N", is.warps_n);
  define("STAGES", is.stages);
  return define.text();
}

void add_ampere_refusals(const KernelMetadata& row, const gemm::View& view, const Target& target,
                         Refusals& refusals) {
  constexpr int64_t kElementBytes = 2;
  const int64_t bytes = (row.design.integer("tile_m", 0) + row.design.integer("tile_n", 0)) *
                        row.design.integer("tile_k", 0) * row.design.integer("stages", 0) *
                        kElementBytes;
  const int64_t most = cuda::most_shared_bytes(facts_of(target).capability);
  if (bytes > most)
    refusals.add(Reason::workspace,
                 fmt::format("its stages take {} bytes of shared memory, and a block of {} has {}",
                             bytes, target.to_string(), most));
  if (view.l > 1 && row.design.integer("split_k", 1) > 1)
    refusals.add(Reason::batch, "it splits k or takes batches, not both");
  if (view.l > 65535) refusals.add(Reason::batch, "it takes 65,535 batches at most");
}

// A counter for each tile of which several blocks compute parts.
int64_t counter_bytes(const KernelMetadata& row, int64_t m, int64_t n, int64_t /*l*/) {
  if (runtime_of(row).split_k <= 1) return 0;
  return tiles(m, row.design.integer("tile_m", 1), 1) *
         tiles(n, row.design.integer("tile_n", 1), 1) * static_cast<int64_t>(sizeof(int32_t));
}

}  // namespace

const Generation& sm80() {
  static const Generation generation = {
      .family = "gemm_sm80",
      .level = "sm80",
      .table = "configurations_sm80.txt",
      .letter = "m",
      .body = "kernel_body_sm80.cuh",
      .schedules = kAmpereSchedules,
      .targets = kAmpereTargets,
      .codes = kAmpereCodes,
      .runtimes = kAmpereRuntimes,
      .compile_seconds = 20,
      .d_row_major = true,
      .slower_on_hopper = true,
      .names_c = false,
      .row_name = "{tile_m}x{tile_n}x{tile_k}_{warps_m}x{warps_n}_{stages}_{schedule}",
      .attributes = kAmpereAttributes,
      .read_design = &read_multistage,
      .stock_name = &ampere_name,
      .defines = &ampere_defines,
      .splits_k = [](const Design&) { return true; },
      .add_refusals = &add_ampere_refusals,
      .most_workspace_bytes = &counter_bytes,
  };
  return generation;
}

}  // namespace assay::cutlass
