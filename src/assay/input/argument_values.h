#pragma once

// From the names of `args` to values, once there is a problem, a row and memory: for providers of
// what users bring.

#include <string>
#include <vector>

#include "assay/kernel/argument_value.h"
#include "assay/kernel/family.h"
#include "assay/kernel/provider.h"

namespace assay::input {

struct ArgumentSources {
  const KernelEntry& entry;
  const KernelMetadata& row;
  const Problem& problem;
  int threads;
  size_t workspace_bytes;  // For the argument of that name.
};

// ErrorCode::internal for a name that means nothing to the entry.
Result<ArgumentValue> argument_value(const ArgumentSources& sources, const std::string& name);
Result<std::vector<ArgumentValue>> argument_values(const ArgumentSources& sources,
                                                   const std::vector<std::string>& names);

}  // namespace assay::input
