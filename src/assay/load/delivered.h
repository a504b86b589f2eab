#pragma once

// Whether the load that was made is the load that was asked for, by what requests did.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/load/plan.h"
#include "assay/load/trace.h"

namespace assay::load {

inline constexpr double kMostRateError = 0.01;

struct Delivered {
  bool as_asked = true;
  std::vector<std::string> reasons;  // Sentences, why not.
  // Of an open loop: sends per second from the first to the last, and what its own schedule had.
  std::optional<double> rate, rate_asked;
  // Kolmogorov and Smirnov's, of the gaps between sends from the law; and how probable one as large
  // is under it.
  std::optional<double> gaps_distance, gaps_probability;
  // Of a closed loop: the median over the time from when all streams were busy to the last send.
  std::optional<double> concurrency;
  int concurrency_asked = 0;
};

// shifted_s: by how much the schedule was put off.
Delivered judge_delivery(const LoadPlan& plan, std::span<const Trace> traces, double begin_s,
                         double shifted_s);

}  // namespace assay::load
