#pragma once

// The names that a kernel's author may use for what an operation hands over: a row of data for each
// operation. Not for use outside this folder.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/input/manifest.h"

namespace assay::input {

struct KernelWords {
  struct Operand {
    std::string role;
    std::vector<std::string> dimensions;  // Outermost first; the last two have a layout letter.
    bool optional = false;                // Not every problem has it.
    bool output = false;
    std::string layout_of;  // Takes the letter of this operand where it has none of its own.
  };
  std::string operation;
  std::vector<Operand> operands;  // In the order of layout letters, optional ones last.
  std::vector<std::string> dimensions;
  std::string batch;  // The dimension that a kernel need not support.
  std::vector<std::string> scalars;

  const Operand* find_operand(std::string_view role) const;

  // Names of operands, sizes, strides, leading dimensions, scalars and the rest; no tunables.
  std::optional<Argument> find(std::string_view name) const;
  std::vector<std::string> names() const;
};

const KernelWords* find_words(std::string_view operation);

}  // namespace assay::input
