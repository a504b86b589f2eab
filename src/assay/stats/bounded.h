#pragma once

namespace assay::stats {

// Whether an interval of a ratio says how large it is: its ends lie within a factor of ten. At a
// keep's confidence the ends of two pairs lie many powers of ten apart, and are not worth printing.
inline constexpr double kWidestBounds = 10;
inline bool is_bounded(double low, double high) { return low > 0 && high <= kWidestBounds * low; }

}  // namespace assay::stats
