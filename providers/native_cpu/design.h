#pragma once

// The rows of this provider: which tilings are offered, and how a row's attributes read back.

#include <vector>

#include "assay/kernel/design_space.h"
#include "kernels.h"

namespace assay::native_cpu {

std::string_view to_string(Isa isa);
std::string_view to_string(Algorithm algorithm);

// What the processor must have for inputs of that type.
Target target_of(Isa isa, Element in);

// Whether its tiles run along the rows of b as [k,n].
bool reads_rows(Algorithm algorithm);

// Most rows of a for which an algorithm is offered: above, blocked was faster on every shape tried.
int64_t most_rows(Algorithm algorithm);

// One group for each instruction set and input type that the algorithm is built for.
std::vector<DesignGroup> design_groups(Algorithm algorithm);

// The tiling that a row of such a group stands for; threads is 1.
Tiling tiling_of(const KernelMetadata& row, Algorithm algorithm, Element in);

}  // namespace assay::native_cpu
