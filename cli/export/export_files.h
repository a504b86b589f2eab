#pragma once

// The files of an exported winner, as text: a C header, its implementation, a caller, a Makefile.

#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/kernel/export.h"
#include "assay/op/problem.h"
#include "assay/record/record.h"

namespace assay::cli {

// What is said of the winner besides its code.
struct WinnerFacts {
  const RunRecord& run;
  const ProblemRecord& problem;
  const KernelOutcome& kernel;
  double median_us = 0;  // Recorded.
  std::string record;    // Its path.
};

// A C identifier: the shape's name with what C does not take as '_'.
std::string c_name(const std::string& shape);

// By path below the export's folder. unsupported for an operation without an export_front().
Result<std::vector<ExportFile>> export_files(const Problem& problem, const KernelExport& made,
                                             const WinnerFacts& facts);

}  // namespace assay::cli
