#pragma once

// Kernels that a user names one by one: found, and alone in a run.

#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/sweep/sweep.h"

namespace assay::cli {

// The kernel that `word` means among those that can take the request's first problem: a name,
// PROVIDER/NAME, or the first digits of an id. `families`: the kernels of a file that was named
// instead; empty where none was. Errors name what there is, and who cannot take the problem.
Result<KernelMetadata> find_kernel(const sweep::Request& request, const std::string& word,
                                   const std::vector<std::string>& families = {});

// Only these take part.
void narrow(sweep::Request& request, std::span<const KernelMetadata> kernels);

// The kernel's name, safe as a part of a folder's.
std::string folder_part(const KernelMetadata& kernel);

// Of a run without a claim: 0 where each problem has a timed kernel, 1 where some launched, else 4.
int timed_exit_code(const RunRecord& record);

}  // namespace assay::cli
