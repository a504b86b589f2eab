#pragma once

// Location and spread that a few scheduler hiccups cannot move.
// All functions take their samples in any order, copy them where they must sort, and want finite
// values; an empty span gives NaN.

#include <span>

namespace assay::stats {

// The share cut from each end. Chosen by simulation as the fraction whose worst efficiency over the
// kinds of noise that paired bursts show is best (RobustTest.TrimFractionIsTheMinimaxChoice).
inline constexpr double kTrimFraction = 0.2;

double mean(std::span<const double> samples);
double median(std::span<const double> samples);

// The n-1 standard deviation; NaN below two samples.
double standard_deviation(std::span<const double> samples);

// The mean of what is left when `fraction` (0 <= fraction < 0.5) of the samples is cut from each
// end. Where fraction * n is not whole, the outermost kept samples count in part, so that no sample
// count is treated worse than its neighbours.
double trimmed_mean(std::span<const double> samples, double fraction = kTrimFraction);

// The standard error of trimmed_mean, from the Winsorised sum of squares SSW:
// sqrt(SSW / (h (h - 1))), h = n - 2 floor(fraction n) (Yuen 1974). NaN below two samples.
double trimmed_standard_error(std::span<const double> samples, double fraction = kTrimFraction);

}  // namespace assay::stats
