#pragma once

// The interval of a claim: Student's over the means of fresh processes.

#include <optional>
#include <span>

namespace assay::stats {

struct Interval {
  double centre = 0;
  double low = 0;
  double high = 0;
  double standard_error = 0;  // Of the centre: spread of the samples over sqrt(samples).
  int samples = 0;
  int degrees = 0;  // Of freedom.
};

// Under six processes the 99 % interval is wider than twice the spread of what it averages (1.65 at
// six, 2.06 at five): docs/method.md asks for six of the seven.
inline constexpr int kMinProcesses = 6;
inline constexpr double kConfidence = 0.99;

// Two-sided interval for the mean of what the samples were drawn from; none below min_samples (and
// never below two).
std::optional<Interval> student_interval(std::span<const double> samples,
                                         double confidence = kConfidence,
                                         int min_samples = kMinProcesses);

// The same around the trimmed mean, by Yuen's error (robust.h): cuts `fraction` of the samples at
// each end, 0 none.
std::optional<Interval> trimmed_interval(std::span<const double> samples, double fraction,
                                         double confidence = kConfidence,
                                         int min_samples = kMinProcesses);

}  // namespace assay::stats
