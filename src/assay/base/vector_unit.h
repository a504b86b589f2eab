#pragma once

// The vector instructions that some of the referee's loops come in.

#include <cstdint>

namespace assay {

// baseline: what every processor has that this program runs on. avx2 has FMA, avx512 the subsets F
// and DQ. best: the widest that this one has.
enum class VectorUnit : std::uint8_t { best, baseline, avx2, avx512 };

bool has_vector_unit(VectorUnit unit);
// What `best` means here; other units are themselves.
VectorUnit resolve(VectorUnit unit);

}  // namespace assay
