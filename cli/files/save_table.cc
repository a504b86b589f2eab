#include "cli/files/save_table.h"

#include <filesystem>

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/select/table_contents.h"
#include "assay/sweep/tabulate.h"

namespace assay::cli {

Status check_table_path(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path absolute = std::filesystem::absolute(path, failed);
  if (std::filesystem::is_directory(absolute, failed))
    return fail(ErrorCode::invalid_input, "--save-table: '{}' is a folder; name a file",
                sanitize(path, 300));
  if (!std::filesystem::is_directory(absolute.parent_path(), failed))
    return fail(ErrorCode::invalid_input, "--save-table: there is no folder '{}'",
                sanitize(absolute.parent_path().string(), 300));
  // An earlier table is replaced; nothing else is.
  if (std::filesystem::exists(std::filesystem::symlink_status(absolute, failed)) &&
      !is_table_file(path))
    return fail(ErrorCode::invalid_input,
                "--save-table: '{}' is there already and is no tuned table; name another file",
                sanitize(path, 300));
  return {};
}

Result<SavedTable> save_table(const sweep::Request& request, const FinishedRun& run,
                              const std::string& path) {
  ASSAY_TRY(const RunRecord record, load_record(run.files.record));
  ASSAY_TRY(sweep::Tabulated table, sweep::tabulate(request, record));
  SavedTable saved;
  saved.left_out = std::move(table.left_out);
  saved.problems = table.contents.problems.size();
  saved.kernels = table.contents.kernels.size();
  if (saved.problems == 0) return saved;
  ASSAY_TRY(const std::string bytes, table_bytes(table.contents));
  // Minutes or hours have passed.
  ASSAY_TRY(check_table_path(path));
  ASSAY_TRY(write_file_atomic(path, bytes));
  saved.path = path;
  saved.bytes = bytes.size();
  return saved;
}

std::string saved_table_text(const SavedTable& saved) {
  std::string text =
      saved.path.empty()
          ? std::string("table none: no shape has a winner that could stand in it\n")
          : fmt::format("table {}: {} shape{}, {} kernel{}, {}\n", sanitize(saved.path, 1000),
                        saved.problems, saved.problems == 1 ? "" : "s", saved.kernels,
                        saved.kernels == 1 ? "" : "s",
                        format_bytes(static_cast<double>(saved.bytes)));
  for (const std::string& sentence : saved.left_out)
    text += fmt::format("  not in it: {}\n", sanitize(sentence, 400));
  return text;
}

Json to_json(const SavedTable& saved) {
  return {{"path", saved.path},
          {"problems", saved.problems},
          {"kernels", saved.kernels},
          {"bytes", saved.bytes},
          {"left_out", saved.left_out}};
}

}  // namespace assay::cli
