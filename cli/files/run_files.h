#pragma once

// What a run leaves beside its record: results for other tools to read, and a log per shape.

#include <filesystem>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/provider_results.h"
#include "assay/record/record.h"
#include "assay/sweep/sweep.h"

namespace assay::cli {

// "openblas_results.json", or what its provider.yaml says: scripts written for the original names
// find "cutlass_profiler_results.json" and "triton_matmul_results.json".
std::string results_file_name(const std::string& provider);

// One file per provider that took part; returns their paths.
// Which of them, by their places, compare without a gap: a baseline with the most results (of
// several the one of which the most were confirmed), then every provider that has a result for each
// of the baseline's problems. Empty: no two do.
std::vector<size_t> comparable(const std::vector<ProviderResults>& results);

Result<std::vector<std::string>> write_results(const std::vector<ProviderResults>& results,
                                               const std::filesystem::path& folder);

// The same folder without what a path may have behind its name: "d/" and "d/." are "d".
std::filesystem::path plain_folder(const std::filesystem::path& folder);

// invalid_input where the folder holds what a run of these providers would write over, and no
// journal of a run, which --resume and --fresh would be about. What a cutlass_profiler left there
// is in the way of those alone whose own results have that file's name.
Status check_run_folder(const std::filesystem::path& folder,
                        const std::vector<process::AskedProvider>& providers);

// logs/<shape>.log in the folder.
Status write_problem_log(const ProblemRecord& problem, const std::filesystem::path& folder);

// The log's text: every kernel with its ending, proof and race, then the confirmations and why
// others were refused.
std::string problem_log(const ProblemRecord& problem);

}  // namespace assay::cli
