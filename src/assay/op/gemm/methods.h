#pragma once

// How outputs are compared with their references, in the words of a proof. Records say them, and
// `assay compare --recompute` knows no others: a sentence that changes leaves its old form here.

#include <string_view>

namespace assay::gemm::method {

inline constexpr std::string_view kEvery = "every element against float64";
inline constexpr std::string_view kEveryBit = "every element bit for bit";
inline constexpr std::string_view kEveryBitAndFreivalds =
    "every element bit for bit, and Freivalds modulo 2^61-1";
inline constexpr std::string_view kFreivalds =
    "the whole output by Freivalds modulo 2^61-1, {} rows bit for bit";
inline constexpr std::string_view kBounds =
    "{} rows and {} columns against float64, the rest against bounds";
inline constexpr std::string_view kProjection =
    "{} elements against float64, every row by a projection";
inline constexpr std::string_view kProjections =
    "{} elements against float64, every {} by {} projections";

// Of problems with an epilogue, whose other elements nobody can speak for.
inline constexpr std::string_view kLines = "{} rows and {} columns against float64";
inline constexpr std::string_view kSome = "{} elements against float64";

inline constexpr std::string_view kLeftOut =
    "left out: normwise kernels add blocks up, where NaN spreads and the largest integers are "
    "rounded";

// kProjections of rows and of columns.
inline constexpr std::string_view kAll[] = {
    kEvery,
    kEveryBit,
    kEveryBitAndFreivalds,
    kFreivalds,
    kBounds,
    kProjection,
    kLines,
    kSome,
    kLeftOut,
    "{} elements against float64, every row by {} projections",
    "{} elements against float64, every column by {} projections"};

}  // namespace assay::gemm::method
