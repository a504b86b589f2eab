#pragma once

// From the names of `args` to a step: what a user's function is told, and what it is not.

#include <string>
#include <vector>

#include "assay/input/argument_values.h"
#include "assay/kernel/family.h"
#include "assay/kernel/provider.h"
#include "shim.h"

namespace assay::cpp_source {

// What the values of a call's arguments are made from.
using CallValues = input::ArgumentSources;

// The value of the argument `name`; which member of the slot counts, shim.h says.
Result<Slot> slot_of(const CallValues& call, const std::string& name);

struct CallBinding {
  const KernelEntry& entry;
  const KernelMetadata& row;
  const Binding& binding;
  const std::vector<std::string>& args;
  const char* symbol;      // kCallSymbol or kPrepareSymbol.
  size_t workspace_bytes;  // For the argument of that name.
};

// The function of the artifact's file is the step itself; its state is the shim's slots.
Result<HostStep> bind_call(const CallBinding& call);

}  // namespace assay::cpp_source
