#pragma once

// What ncu writes with --csv --page raw: its own messages, then a header, a line of units and a
// line for each kernel that it profiled. Of hostile origin: names are a library's, numbers
// anybody's.

#include <span>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/gpu_profile.h"

namespace assay {

inline constexpr std::size_t kMaxProfiledKernels = 4096;  // Lines: launches times their kernels.

// The kernels in order, with those of `metrics` that have a number there; names are made safe.
// Errors: invalid_input, "origin:line:column: what is wrong"; not_found, where there is no table.
Result<std::vector<ProfiledKernel>> read_ncu_csv(std::string_view text, std::string_view origin,
                                                 std::span<const std::string_view> metrics);

// Those of one launch, each metric the median over `launches` that were profiled behind one
// another. Errors: failed, with a sentence, where they are not that many times the same kernels.
Result<std::vector<ProfiledKernel>> one_launch(std::span<const ProfiledKernel> all, int launches);

}  // namespace assay
