#include "cli/run_files.h"

#include "assay/base/file.h"

namespace assay::cli {

std::string results_file_name(const std::string& provider) {
  if (provider == "cutlass") return "cutlass_profiler_results.json";
  if (provider == "triton") return "triton_matmul_results.json";
  return provider + "_results.json";
}

Result<std::vector<std::string>> write_results(const std::vector<ProviderResults>& results,
                                               const std::filesystem::path& folder) {
  std::vector<std::string> paths;
  for (const ProviderResults& one : results) {
    paths.push_back((folder / results_file_name(one.provider)).string());
    ASSAY_TRY(write_provider_results(paths.back(), one));
  }
  return paths;
}

Status write_problem_log(const ProblemRecord& problem, const std::filesystem::path& folder) {
  const std::filesystem::path logs = folder / "logs";
  ASSAY_TRY(make_directories(logs.string()));
  return write_file_atomic((logs / (problem.name + ".log")).string(), problem_log(problem));
}

}  // namespace assay::cli
