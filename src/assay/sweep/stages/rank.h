#pragma once

// In which order kernels whose compile costs much are compiled, and which of them are.

#include <optional>
#include <span>
#include <string>

#include "assay/base/result.h"
#include "assay/kernel/metadata.h"
#include "assay/sweep/stages/station.h"

namespace assay::sweep {

// What rankers say of the field's kernels, whose rows these are: where each stands by each of them,
// and which of those that cost much to compile come first. Nothing where none does. target: where
// it is not the workers' own device.
Status rank(const Request& request, Crew& crew, const Problem& problem,
            const std::optional<std::string>& target, std::span<const KernelMetadata> rows,
            Field& field);

// Those that are neither among the first nor in the cache leave the field, counted with the reason.
Status leave_out(const Station& station, Field& field);

}  // namespace assay::sweep
