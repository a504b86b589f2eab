#pragma once

// A family of as many kernels as one likes, all alike: what is measured is everything else.

#include <memory>

#include "assay/kernel/family.h"

namespace assay::bench {

enum class Synthetic : uint8_t {
  nothing,  // Launches do_nothing: wrong, and as quick as can be.
  plain,    // Three loops: right on every input.
};

// rows: rounded up to a multiple of 100; all share one rule (f32 a, b and out).
std::shared_ptr<const Family> make_synthetic_family(int64_t rows, Synthetic kind);

int do_nothing(const void* state, void* const* data);

}  // namespace assay::bench
