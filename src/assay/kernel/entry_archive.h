#pragma once

// A user's kernel between processes, and what of it tells kernels apart.

#include <string>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/kernel/provider.h"

namespace assay {

// All fields but `files`, which travel beside it.
Json to_json(const KernelEntry& entry);
Result<KernelEntry> entry_from_json(const JsonField& field);

// How its code is called: arguments, launch, workspace and preparation (KernelTraits::call).
std::string call_of(const KernelEntry& entry);

}  // namespace assay
