#pragma once

#include <cstdint>

namespace assay::bench {

// Blocks of memory that this program's own code has asked for so far, by malloc and its like and so
// by new: counted where they are asked for (allocations.cc), whoever asks. Shared libraries ask
// elsewhere.
int64_t allocations();

}  // namespace assay::bench
