#pragma once

// A `sweep` benchmark: `assay race` of the kernels of both trees, as a process; its record says how
// they stood. Both are proven, and neither can time itself.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "assay/lab/evaluate/measure.h"

namespace assay::lab {

struct Raced {
  std::optional<Failure> failure;
  // Of each process that confirmed: the metrics' log ratios, above 0 where the candidate is faster.
  std::vector<std::map<std::string, double>> pairs;
  Metrics candidate, incumbent;
  double systematic = 0;  // What all processes may share (stats::JudgeOptions).
};

// How a record calls the kernels of each of these files (their families), when all are raced.
using FamiliesOf = std::function<Result<std::vector<std::vector<std::string>>>(
    const std::vector<std::string>& files)>;

// `folder`: where the race's record goes; must not exist.
Result<Raced> race_sides(const ProgramRunner& runner, const Benchmark& benchmark,
                         const Side& candidate, const Side& incumbent, int processes,
                         const FamiliesOf& families_of, const std::filesystem::path& folder);

}  // namespace assay::lab
