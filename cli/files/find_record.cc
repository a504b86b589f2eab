#include "cli/files/find_record.h"

#include <algorithm>
#include <utility>

#include "assay/base/choices.h"
#include "assay/base/text.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRunFolders[] = {"runs", "artifacts"};
constexpr size_t kListed = 5;

// "; did you mean 'runs/0001-gemm'? Runs here: ...", or what there is.
std::string known_runs_text(const std::string& meant) {
  std::vector<std::string> names;
  for (const fs::path& record : records_here()) names.push_back(record.parent_path().string());
  if (names.empty()) return "; there are none below runs and artifacts";
  std::vector<std::string> newest(names.begin(), names.begin() + std::min(names.size(), kListed));
  const std::string more = names.size() > kListed ? ", ..." : "";
  return did_you_mean(meant, names, "runs here: " + join(newest, ", ") + more);
}

}  // namespace

std::vector<fs::path> records_here() {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  std::error_code error;
  for (const char* parent : kRunFolders) {
    for (const auto& folder : fs::directory_iterator(parent, error)) {
      const fs::path path = folder.path() / "record.json";
      const auto time = fs::last_write_time(path, error);
      if (!error) found.emplace_back(time, path);
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& left, const auto& right) {
    return left.first != right.first ? left.first > right.first : left.second > right.second;
  });
  std::vector<fs::path> paths;
  for (auto& [time, path] : found) paths.push_back(std::move(path));
  return paths;
}

Result<std::string> find_record(const std::string& run) {
  std::error_code ignored;
  if (!fs::is_directory(run, ignored)) {
    if (fs::exists(run, ignored)) return run;
    return fail(ErrorCode::missing, "there is no run '{}'{}", sanitize(run, 300),
                known_runs_text(run));
  }
  const fs::path folder(run);
  for (const char* name : {"record.json", "record.json.zst"})
    if (fs::exists(folder / name, ignored)) return (folder / name).string();
  if (fs::exists(folder / "journal.jsonl", ignored))
    return fail(ErrorCode::missing,
                "'{}' holds a run that was not finished; the same sweep with --resume finishes it",
                sanitize(run, 300));
  return fail(ErrorCode::missing, "'{}' holds no record.json", sanitize(run, 300));
}

}  // namespace assay::cli
