#pragma once

// Student's t distribution, by the regularised incomplete beta function
// (Abramowitz and Stegun 26.5.27 and 26.5.8).

namespace assay::stats {

// I_x(a, b) for a, b > 0 and 0 <= x <= 1; relative error about 1e-13.
double incomplete_beta(double a, double b, double x);

// P(T <= t) with `degrees` > 0 degrees of freedom (they need not be whole).
double student_cdf(double t, double degrees);

// The t with student_cdf(t) = probability, for 0 < probability < 1.
double student_quantile(double probability, double degrees);

}  // namespace assay::stats
