#pragma once

// The names that a kernel's author may use: those of the operation, and of what every kernel can be
// handed. Not for use outside this folder.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/input/manifest.h"
#include "assay/op/operation.h"

namespace assay::input {

struct KernelWords : OperationWords {
  // Names of operands, sizes, strides, leading dimensions, scalars and the rest; no tunables.
  std::optional<Argument> find(std::string_view name) const;
  std::vector<std::string> names() const;
  // "batch" and "a_batch" as the operation calls them: a shape says batch, whatever the operation.
  std::string plain_name(const std::string& name) const;
};

const KernelWords* find_words(std::string_view operation);  // Null: there is no such operation.

}  // namespace assay::input
