#pragma once

// A `sweep` benchmark: `assay race` of the kernels of both trees, as a process; its record says how
// they stood. Both are proven, and neither can time itself.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "assay/lab/evaluate/measure.h"
#include "assay/record/record.h"

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

// The race's words without those that choose shapes.
std::vector<std::string> without_shapes(const std::vector<std::string>& words);

// The shape that takes most of the weighted time of a side, whose families are these, and its
// kernel there.
struct Heaviest {
  std::string shape;
  Json problem;  // The fields that make it again.
  std::string kernel_id, kernel;
};
std::optional<Heaviest> heaviest_of(const RunRecord& record,
                                    const std::vector<std::string>& families);

// `folder`: where the race's record goes; must not exist.
Result<Raced> race_sides(const ProgramRunner& runner, const Benchmark& benchmark,
                         const Side& candidate, const Side& incumbent, int processes,
                         const FamiliesOf& families_of, const std::filesystem::path& folder);

}  // namespace assay::lab
