#pragma once

// From the names of `args` to a step: what a user's function is told, and what it is not.

#include <optional>
#include <string>
#include <vector>

#include "assay/kernel/family.h"
#include "assay/kernel/provider.h"

namespace assay::cpp_source {

// Whether the function, or its preparation, has a parameter of that name.
bool is_told(const KernelEntry& entry, const std::string& name);

// A kernel that never hears of a distance takes rows, columns and batches to lie side by side: a
// refusal where they do not.
std::optional<Refusal> unspoken_gap(const KernelEntry& entry, const Operand& operand);

struct CallBinding {
  const KernelEntry& entry;
  const KernelMetadata& row;
  const Binding& binding;
  const std::vector<std::string>& args;
  const char* symbol;      // assay_call or assay_prepare.
  size_t workspace_bytes;  // For the argument of that name.
};

// The function of the artifact's file is the step itself; its state is the shim's slots.
Result<HostStep> bind_call(const CallBinding& call);

}  // namespace assay::cpp_source
