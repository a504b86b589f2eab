#include "assay/load/read_record.h"

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/load/load_record.h"
#include "assay/load/samples.h"

namespace assay::load {

namespace {

// One of the two things that a run can say no about; absent in a record is none.
Status read_reasons(const JsonField& run, std::string_view member, std::string_view flag,
                    bool& value, std::vector<std::string>& reasons) {
  const auto part = run.find(member);
  if (!part) return {};
  if (const auto field = part->find(flag)) {
    ASSAY_TRY(value, field->as_bool());
  }
  if (const auto list = part->find("reasons")) {
    ASSAY_TRY(const auto items, list->items());
    for (const JsonField& item : items) {
      ASSAY_TRY(reasons.emplace_back(), item.as_string());
    }
  }
  return {};
}

Result<Judged> judged_of(const JsonField& run, std::span<const Trace> traces) {
  Judged judged;
  judged.metrics = measure(traces, {});
  ASSAY_TRY(read_reasons(run, "delivered", "as_asked", judged.delivered.as_asked,
                         judged.delivered.reasons));
  ASSAY_TRY(read_reasons(run, "client", "limited", judged.client.limited, judged.client.reasons));
  if (const auto interrupted = run.find("interrupted")) {
    ASSAY_TRY(judged.interrupted, interrupted->as_bool());
  }
  return judged;
}

}  // namespace

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
  // A single run's members stand at the top.
  std::vector<JsonField> members(kept.runs.size(), root);
  if (const auto several = root.find("runs")) {
    ASSAY_TRY(members, several->items());
    if (members.size() != kept.runs.size())
      return tl::unexpected(
          several->error(ErrorCode::invalid_input, "there are not as many runs as samples"));
  }
  for (std::size_t i = 0; i < kept.runs.size(); ++i) {
    ASSAY_TRY(kept.judged.emplace_back(), judged_of(members[i], kept.runs[i]));
  }
  return kept;
}

}  // namespace assay::load
