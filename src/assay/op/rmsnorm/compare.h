#pragma once

// An output against float64: every element, and where inputs are random every row as a whole
// (budget.h). The reference is made anew each time: it takes no longer than reading the operands.
// Not for use outside op/rmsnorm.

#include <cstddef>
#include <span>
#include <string_view>

#include "assay/op/rmsnorm/rmsnorm.h"

namespace assay::rmsnorm {

namespace method {

// Records say them, and `assay compare --recompute` knows no others.
inline constexpr std::string_view kEvery = "every element against float64";
inline constexpr std::string_view kEveryAndRows =
    "every element against float64, every row as a whole";
inline constexpr std::string_view kAll[] = {kEvery, kEveryAndRows};

}  // namespace method

struct Bytes {
  std::span<const std::byte> x, w, out;
  std::span<const std::byte> residual, written;  // As a launch found it, and as it left it.
};

// random: x and w are, so that rows are looked at as a whole.
Check compare(const View& view, const Bytes& bytes, bool random);

}  // namespace assay::rmsnorm
