// Where results and records come from: the disk.

#include <filesystem>

#include "assay/base/file.h"
#include "assay/compare/compare.h"

namespace assay {

Result<ResultsFile> load_results_file(const std::string& path, std::span<const NamedSizes> names) {
  Result<std::string> text = read_file(path);
  if (!text && text.error().code == ErrorCode::not_found) return ResultsFile{path, std::nullopt};
  if (!text) return fail(text.error());
  if (path.ends_with(".csv")) {
    ASSAY_TRY(const ProfilerReport report, read_profiler_csv(*text, path));
    ASSAY_TRY(ProviderResults best, best_rows(report, names, "", path));
    return ResultsFile{path, std::move(best)};
  }
  ASSAY_TRY(const JsonDocument document, parse_json_document(*text, path));
  ASSAY_TRY(ProviderResults results, read_provider_results(document));
  return ResultsFile{path, std::move(results)};
}

Result<const RunRecord*> RecordFiles::get(const std::string& results_path,
                                          const std::string& record_path) {
  namespace fs = std::filesystem;
  // operator/ keeps an absolute record_path as it is.
  const std::string path =
      (fs::path(results_path).parent_path() / record_path).lexically_normal().string();
  const auto known = records_.find(path);
  if (known != records_.end()) return known->second.get();
  ASSAY_TRY(RunRecord record, load_record(path));
  const auto kept = std::make_shared<const RunRecord>(std::move(record));
  records_[path] = kept;
  return kept.get();
}

RecordLookup RecordFiles::lookup() {
  return [this](const std::string& results_path, const std::string& record_path) {
    return get(results_path, record_path);
  };
}

}  // namespace assay
