#pragma once

// In whose order kernels that cost much to compile were built, and how good each ranker's was.

#include <span>
#include <string>
#include <vector>

#include "assay/record/record.h"
#include "assay/report/document.h"

namespace assay::report {

// "roofline chose 16 of 2,408 kernels that cost much to compile; the winner is its number 3 of
// 2,408". Empty where no kernel did.
std::string ranking_text(const ProblemRecord& problem);

// The same of many problems, those that were chosen for alike in one line.
std::vector<std::string> ranking_lines(std::span<const ProblemRecord* const> problems);

// Each ranker on each shape: where the winner stood, and recall@8. No blocks where nobody ranked.
// Of whole problems: a headline does not have the kernels.
Section rankers_section(const RunRecord& record);

}  // namespace assay::report
