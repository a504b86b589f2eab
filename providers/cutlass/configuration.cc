#include "configuration.h"

#include <fmt/format.h>

#include "providers/cutlass/info.h"

namespace assay::cutlass {
namespace {

struct Words {
  std::string_view ours, stock, code;
};

// The words of the table, of CUTLASS's names, and its types.
constexpr Words kSchedules[] = {
    {"auto", "", "cutlass::gemm::collective::KernelScheduleAuto"},
    {"tma", "_warpspecialized", "cutlass::gemm::KernelTmaWarpSpecialized"},
    {"pingpong", "_warpspecialized_pingpong", "cutlass::gemm::KernelTmaWarpSpecializedPingpong"},
    {"cooperative", "_warpspecialized_cooperative",
     "cutlass::gemm::KernelTmaWarpSpecializedCooperative"},
    {"cpasync", "_cpasync_warpspecialized", "cutlass::gemm::KernelCpAsyncWarpSpecialized"},
    {"cpasync_cooperative", "_cpasync_warpspecialized_cooperative",
     "cutlass::gemm::KernelCpAsyncWarpSpecializedCooperative"},
};
constexpr Words kEpilogues[] = {
    {"auto", "", "cutlass::epilogue::collective::EpilogueScheduleAuto"},
    {"direct", "_epi_nosmem", "cutlass::epilogue::NoSmemWarpSpecialized"},
    {"tma", "_epi_tma", "cutlass::epilogue::TmaWarpSpecialized"},
};
constexpr Words kSchedulers[] = {
    {"persistent", "", "void"},
    {"stream_k", "_stream_k", "cutlass::gemm::StreamKScheduler"},
};

template <size_t kCount>
const Words* find(const Words (&all)[kCount], std::string_view ours) {
  for (const Words& words : all)
    if (words.ours == ours) return &words;
  return nullptr;
}

std::string_view code_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return "cutlass::half_t";
    case DType::bf16:
      return "cutlass::bfloat16_t";
    default:
      return "float";
  }
}

std::string_view content_of(std::string_view name) { return find_embedded(embedded_files(), name); }

// A second #pragma once would be one of the main file.
std::string without_pragma(std::string_view text) {
  constexpr std::string_view kPragma = "#pragma once\n";
  std::string copy(text);
  if (const size_t at = copy.find(kPragma); at != std::string::npos) copy.erase(at, kPragma.size());
  return copy;
}

const char* code_of(bool row_major) {
  return row_major ? "cutlass::layout::RowMajor" : "cutlass::layout::ColumnMajor";
}

// Its layouts are those of the transposed problem, whose D is column-major.
std::string stock_name_sm80(const Configuration& configuration) {
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

// The head of a source: what it is, and what all generations are told.
class Defines {
 public:
  explicit Defines(const Configuration& configuration)
      : text_(fmt::format("// {}\n", configuration.stock_name())) {
    const Design& design = configuration.design;
    const Operands& operands = configuration.operands;
    Defines& define = *this;
    define("A", code_of(operands.a));
    define("C", operands.reads_c ? code_of(operands.d) : "void");
    define("D", code_of(operands.d));
    define("ACCUMULATE", code_of(operands.accumulate));
    define("LAYOUT_A", code_of(operands.a_row_major));
    define("LAYOUT_B", code_of(operands.b_row_major));
    define("ALIGNMENT_IN", operands.alignment_in);
    define("ALIGNMENT_OUT", operands.alignment_out);
    define("TILE_M", design.tile_m);
    define("TILE_N", design.tile_n);
    define("TILE_K", design.tile_k);
  }
  template <typename Value>
  void operator()(std::string_view name, const Value& value) {
    text_ += fmt::format("#define ASSAY_{} {}\n", name, value);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string source_sm80(const Configuration& configuration) {
  const Design& is = configuration.design;
  Defines define(configuration);
  define("WARPS_M", is.warps_m);
  define("WARPS_N", is.warps_n);
  define("STAGES", is.stages);
  return define.text() + without_pragma(content_of("kernel_abi.h")) +
         std::string(content_of("kernel_body_sm80.cuh"));
}

}  // namespace

std::string Configuration::stock_name() const {
  if (operands.generation == Generation::sm80) return stock_name_sm80(*this);
  const Design& is = design;
  const Words* const schedule = find(kSchedules, is.schedule);
  const Words* const epilogue = find(kEpilogues, is.epilogue);
  const Words* const scheduler = find(kSchedulers, is.scheduler);
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

Result<std::string> Configuration::source() const {
  if (operands.generation == Generation::sm80) return source_sm80(*this);
  const Words* const schedule = find(kSchedules, design.schedule);
  const Words* const epilogue = find(kEpilogues, design.epilogue);
  const Words* const scheduler = find(kSchedulers, design.scheduler);
  if (schedule == nullptr || epilogue == nullptr || scheduler == nullptr)
    return fail(ErrorCode::invalid_input, "no configuration of CUTLASS is {}, {}, {}",
                design.schedule, design.epilogue, design.scheduler);
  std::string epilogue_code(epilogue->code);
  if (design.epilogue == "tma" && design.schedule.ends_with("cooperative"))
    epilogue_code += "Cooperative";
  Defines define(*this);
  define("CLUSTER_M", design.cluster_m);
  define("CLUSTER_N", design.cluster_n);
  define("STAGES", design.stages);
  define("SCHEDULE", schedule->code);
  define("EPILOGUE", epilogue_code);
  define("SCHEDULER", scheduler->code);
  return define.text() + without_pragma(content_of("kernel_abi.h")) +
         std::string(content_of("kernel_body.cuh"));
}

bool is_swapped(const KernelMetadata& row) { return row.design.truth("swapped", false); }

Runtime runtime_of(const KernelMetadata& row) {
  return {row.design.text("raster", "heuristic"), row.design.integer("swizzle", 1),
          row.design.integer("split_k", 1)};
}

Result<Configuration> configuration_of(const KernelMetadata& row) {
  Configuration made;
  Design& design = made.design;
  const auto number = [&](const char* name) {
    return static_cast<int>(std::clamp<int64_t>(row.design.integer(name, 0), 0, 1024));
  };
  design.tile_m = number("tile_m");
  design.tile_n = number("tile_n");
  design.tile_k = number("tile_k");
  design.cluster_m = number("cluster_m");
  design.cluster_n = number("cluster_n");
  design.stages = number("stages");
  design.schedule = row.design.text("schedule", "");
  design.epilogue = row.design.text("epilogue", "");
  design.scheduler = row.design.text("scheduler", "");
  design.warps_m = number("warps_m");
  design.warps_n = number("warps_n");
  if (design.schedule == "multistage") {
    made.operands.generation = Generation::sm80;
    design.cluster_m = design.cluster_n = 1;
  }
  const bool swapped = is_swapped(row);
  // CUTLASS's A is b transposed where operands are swapped.
  const OperandRule* const first = row.rule().find_operand(swapped ? "b" : "a");
  const OperandRule* const second = row.rule().find_operand(swapped ? "a" : "b");
  const OperandRule* const out = row.rule().find_operand("out");
  if (first == nullptr || second == nullptr || out == nullptr || first->dtypes.size() != 1 ||
      out->dtypes.size() != 1 || row.rule().accumulate.size() != 1)
    return fail(ErrorCode::invalid_input, "a row of cutlass has a rule that none of its rows has");
  Operands& operands = made.operands;
  operands.a = first->dtypes.front();
  operands.d = out->dtypes.front();
  operands.accumulate = row.rule().accumulate.front();
  operands.reads_c = row.rule().find_operand("c") != nullptr;
  // Transposed, rows side by side are columns side by side.
  operands.a_row_major = (first->major == Major::row) != swapped;
  operands.b_row_major = (second->major == Major::row) != swapped;
  operands.alignment_in = static_cast<int>(first->divisibility);
  operands.alignment_out = static_cast<int>(out->divisibility);
  return made;
}

std::vector<Target> targets_of(Generation generation) {
  if (generation == Generation::sm90) return {*Target::parse("sm_90a")};
  std::vector<Target> targets;
  for (const char* name : {"sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a"})
    targets.push_back(*Target::parse(name));
  return targets;
}

// A cubin runs on the GPUs of its major version.
std::string code_for(Generation generation, const Target& target) {
  if (generation == Generation::sm90) return "sm_90a";
  return target.arch.starts_with("sm_9") ? "sm_90" : "sm_80";
}

std::vector<std::string> codes_of(Generation generation) {
  if (generation == Generation::sm90) return {"sm_90a"};
  return {"sm_80", "sm_90"};
}

ProblemRule rule_of(const Operands& operands, bool swapped) {
  ProblemRule rule;
  const auto operand = [&](const char* role, DType dtype, bool row_major, int alignment) {
    rule.operands.push_back({.role = role,
                             .dtypes = {dtype},
                             .major = row_major ? Major::row : Major::column,
                             .divisibility = alignment,
                             .alignment = alignment * static_cast<int64_t>(size_bytes(dtype))});
  };
  operand("a", operands.a, swapped ? !operands.b_row_major : operands.a_row_major,
          operands.alignment_in);
  operand("b", operands.a, swapped ? !operands.a_row_major : operands.b_row_major,
          operands.alignment_in);
  const bool d_row_major = operands.d_row_major() != swapped;
  if (operands.reads_c) operand("c", operands.d, d_row_major, operands.alignment_out);
  operand("out", operands.d, d_row_major, operands.alignment_out);
  rule.accumulate = {operands.accumulate};
  rule.scalars = true;
  rule.targets = targets_of(operands.generation);
  return rule;
}

}  // namespace assay::cutlass
