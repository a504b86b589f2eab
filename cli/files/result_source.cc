#include "cli/files/result_source.h"

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/record/profiler_csv.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

std::vector<ProviderResults> results_of(const RunRecord& record, const std::string& path,
                                        const fs::path& folder) {
  // By names alone: the folder may not be there yet.
  std::error_code failed;
  const fs::path here = fs::current_path(failed);
  const fs::path seen =
      (here / path).lexically_normal().lexically_proximate((here / folder).lexically_normal());
  BestOfProviders best;
  for (const ProblemRecord& problem : record.problems)
    best.add(problem, failed ? path : seen.string());
  return best.take(record.environment);
}

Result<std::string> record_in(const fs::path& folder) {
  for (const char* name : {"record.json", "record.json.zst"}) {
    std::error_code ignored;
    if (fs::exists(folder / name, ignored)) return (folder / name).string();
  }
  return fail(ErrorCode::missing, "'{}' holds no record.json; name a run's folder or a file",
              sanitize(folder.string(), 300));
}

bool is_record(const Json& root) {
  const auto schema = root.is_object() ? root.find("schema") : root.end();
  return root.is_object() && schema != root.end() && schema->is_string() &&
         schema->get_ref<const std::string&>().starts_with("assay.record/");
}

Result<std::vector<ProviderResults>> load_file(const std::string& path, const fs::path& folder) {
  if (path.ends_with(".zst")) {
    ASSAY_TRY(const RunRecord record, load_record(path));
    return results_of(record, path, folder);
  }
  ASSAY_TRY(const std::string text, read_file(path));
  std::vector<ProviderResults> list;
  if (path.ends_with(".csv")) {
    ASSAY_TRY(const ProfilerReport report, read_profiler_csv(text, path));
    ASSAY_TRY(list, best_rows_of_each(report, path));
    return list;
  }
  ASSAY_TRY(const JsonDocument document, parse_json_document(text, path));
  if (is_record(document.root)) {
    ASSAY_TRY(const RunRecord record, read_record(document));
    return results_of(record, path, folder);
  }
  ASSAY_TRY(list.emplace_back(), read_provider_results(document));
  return list;
}

}  // namespace

Result<std::vector<ProviderResults>> load_results(const std::string& source,
                                                  const fs::path& folder) {
  std::error_code ignored;
  std::string path = source;
  if (fs::is_directory(source, ignored)) {
    ASSAY_TRY(path, record_in(source));
  }
  ASSAY_TRY(std::vector<ProviderResults> list, load_file(path, folder));
  if (list.empty())
    return fail(ErrorCode::missing, "{}: no kernel of any provider was timed", sanitize(path, 300));
  return list;
}

}  // namespace assay::cli
