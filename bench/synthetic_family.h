#pragma once

// A family whose kernels do nothing, as many as one likes: what is measured is everything else.

#include <memory>

#include "assay/kernel/family.h"

namespace assay::bench {

// rows: rounded up to a multiple of 100; all share one rule (f32 a, b and out).
std::shared_ptr<const Family> make_synthetic_family(int64_t rows);

// What its kernels launch.
int do_nothing(const void* state, void* const* data);

}  // namespace assay::bench
