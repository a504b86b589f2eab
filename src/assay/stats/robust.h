#pragma once

// Location and spread that a few scheduler hiccups cannot move.
// All functions take their samples in any order, copy them where they must sort, and want finite
// values; an empty span gives NaN.

#include <span>

namespace assay::stats {

// The share cut from each end: what is left is the mean of the middle half. Simulated: of 0, 5, ...
// 50 % it is the one that loses least where it does worst, over normal, heavy-tailed, one-sidedly
// delayed and ticked noise (RobustTest.TrimFractionIsTheMinimaxChoice). It never needs more than
// 1.3 times the rounds of the best fraction for that noise; the plain mean can need 50 times, the
// median 1.7 times.
inline constexpr double kTrimFraction = 0.25;

double mean(std::span<const double> samples);
double median(std::span<const double> samples);
// What a quarter of them exceed: of n ordered samples, the one at index 3 n / 4.
double upper_quartile(std::span<const double> samples);
// What a quarter of them do not exceed: of n ordered samples, the one at index n / 4.
double lower_quartile(std::span<const double> samples);

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
