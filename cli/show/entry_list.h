#pragma once

// What a manifest or a head comment became: each entry with its rule, its tunables, and the kernels
// that its legal points are.

#include <span>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/kernel/provider.h"
#include "assay/report/table.h"
#include "assay/sweep/sweep.h"

namespace assay::cli {

struct BroughtEntry {
  KernelEntry entry;
  std::vector<KernelMetadata> kernels;  // One for each point that its own constraints allow.
};

// The entries of these files, in their order, each with the kernels that a worker made of it. No
// problem is asked: constraints on sizes hold back nothing here.
Result<std::vector<BroughtEntry>> bring_entries(const sweep::Request& request,
                                                std::span<const input::KernelSource> files);

Json entries_json(const std::vector<BroughtEntry>& entries);
std::string entries_text(const std::vector<BroughtEntry>& entries, const report::TextStyle& style);

}  // namespace assay::cli
