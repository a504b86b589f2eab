#include "cli/find_record.h"

#include <filesystem>

#include "assay/base/text.h"

namespace assay::cli {

Result<std::string> find_record(const std::string& run) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(run, ignored)) {
    if (std::filesystem::exists(run, ignored)) return run;
    return fail(ErrorCode::missing, "there is no run '{}'", sanitize(run, 300));
  }
  const std::filesystem::path folder(run);
  for (const char* name : {"record.json", "record.json.zst"})
    if (std::filesystem::exists(folder / name, ignored)) return (folder / name).string();
  if (std::filesystem::exists(folder / "journal.jsonl", ignored))
    return fail(ErrorCode::missing,
                "'{}' holds a run that was not finished; the same sweep with --resume finishes it",
                sanitize(run, 300));
  return fail(ErrorCode::missing, "'{}' holds no record.json", sanitize(run, 300));
}

}  // namespace assay::cli
