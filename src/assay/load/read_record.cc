#include "assay/load/read_record.h"

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/load/load_record.h"
#include "assay/load/samples.h"

namespace assay::load {

Result<KeptRun> read_kept_run(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::path file =
      std::filesystem::is_directory(path, ignored) ? path / "load.json" : path;
  ASSAY_TRY(const std::string text, read_file(file.string()));
  KeptRun kept;
  ASSAY_TRY(kept.record, parse_json_document(text, sanitize(file.string(), 200)));
  const JsonField root(kept.record);
  ASSAY_TRY(const JsonField schema, root.at("schema"));
  ASSAY_TRY(const std::string word, schema.as_string());
  if (word != kLoadSchema)
    return tl::unexpected(
        schema.error(ErrorCode::invalid_input,
                     fmt::format("'{}' is not '{}'", sanitize(word, 60), kLoadSchema)));
  ASSAY_TRY(const JsonField samples, root.at("samples"));
  ASSAY_TRY(const std::vector<JsonField> names, samples.items());
  for (const JsonField& field : names) {
    ASSAY_TRY(const std::string name, field.as_string());
    // Beside the record, and nowhere else.
    if (!matches_name_rule(name))
      return tl::unexpected(field.error(ErrorCode::invalid_input, "it is no name of a file"));
    ASSAY_TRY(auto traces, read_samples((file.parent_path() / name).string()));
    kept.runs.push_back(std::move(traces));
  }
  return kept;
}

}  // namespace assay::load
