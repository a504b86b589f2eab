#include "configuration.h"

#include <fmt/format.h>

#include "providers/cutlass/info.h"

namespace assay::cutlass {
namespace {

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

}  // namespace

Defines::Defines(const Configuration& configuration)
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

void Defines::operator()(std::string_view name, std::string_view value) {
  text_ += fmt::format("#define ASSAY_{} {}\n", name, value);
}

void Defines::operator()(std::string_view name, int value) { (*this)(name, fmt::to_string(value)); }

std::string Configuration::stock_name() const { return operands.generation->stock_name(*this); }

Result<std::string> Configuration::source() const {
  ASSAY_TRY(const std::string defines, operands.generation->defines(*this));
  return defines + without_pragma(content_of("kernel_abi.h")) +
         std::string(content_of(operands.generation->body));
}

bool is_swapped(const KernelMetadata& row) { return row.design.truth("swapped", false); }

Result<Configuration> configuration_of(const KernelMetadata& row) {
  Configuration made;
  Design& design = made.design;
  const auto number = [&](const char* name, int absent = 0) {
    return static_cast<int>(std::clamp<int64_t>(row.design.integer(name, absent), 0, 1024));
  };
  design.tile_m = number("tile_m");
  design.tile_n = number("tile_n");
  design.tile_k = number("tile_k");
  design.cluster_m = number("cluster_m", 1);
  design.cluster_n = number("cluster_n", 1);
  design.stages = number("stages");
  design.schedule = row.design.text("schedule", "");
  design.epilogue = row.design.text("epilogue", "");
  design.scheduler = row.design.text("scheduler", "");
  design.warps_m = number("warps_m");
  design.warps_n = number("warps_n");
  made.operands.generation = &generation_of(row);
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
  rule.targets = operands.generation->parsed_targets();
  return rule;
}

}  // namespace assay::cutlass
