#pragma once

// The names that users may use for what an operation hands to a kernel: in the files by which they
// bring kernels, and in shapes.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct OperationWords {
  struct Operand {
    std::string role;
    std::vector<std::string> dimensions;  // Outermost first; the last two have a layout letter.
    bool optional = false;                // Not every problem has it.
    bool of_step = false;                 // It comes with the epilogue's step of that name.
    bool output = false;
    std::string of_scalar;  // It weighs by this scalar: a kernel that takes none need not know it.
    std::string layout_of;  // Takes the letter of this operand where it has none of its own.
  };
  std::vector<Operand> operands;  // In the order of layout letters, optional ones last.
  std::vector<std::string> dimensions;
  std::string batch;  // The dimension that a kernel need not support.
  struct Scalar {
    std::string name;
    // What a kernel that never hears of it computes with; none: each value has to be told.
    std::optional<double> plain;
  };
  std::vector<Scalar> scalars;
  // Operands that are constant where a --shape does not say which are; its field is "constant".
  std::vector<std::string> weights;
  // Operands of two dimensions or more may lie in rows or in columns, and layouts say which; else
  // all lie in rows.
  bool has_layouts = true;

  const Operand* find_operand(std::string_view role) const {
    for (const Operand& operand : operands)
      if (operand.role == role) return &operand;
    return nullptr;
  }
  bool has_scalar(std::string_view name) const {
    return std::ranges::find(scalars, name, &Scalar::name) != scalars.end();
  }
};

}  // namespace assay
