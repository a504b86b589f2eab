#include "assay/select/table_head.h"

#include <algorithm>

#include "assay/base/text.h"

namespace assay {
namespace {

constexpr size_t kMostDimensions = 8;
constexpr double kLeastWeight = 0.01, kMostWeight = 100;

Json origin_json(const TableOrigin& origin) {
  Json libraries = Json::array();
  for (const TableOrigin::Library& library : origin.libraries)
    libraries.push_back({{"provider", library.provider},
                         {"version", library.version},
                         {"path", library.path},
                         {"sha256", library.sha256}});
  return {{"created", origin.created},
          {"run", origin.run},
          {"assay", {{"version", origin.assay_version}, {"revision", origin.assay_revision}}},
          {"device",
           {{"kind", origin.device_kind}, {"name", origin.device_name}, {"id", origin.device_id}}},
          {"target", origin.target},
          {"threads", origin.threads},
          {"condition", origin.condition},
          {"class", origin.race_class},
          {"libraries", std::move(libraries)}};
}

Status read_text(const JsonField& object, std::string_view key, std::string& text) {
  ASSAY_TRY(object.expect_object());
  if (const auto field = object.find(key)) {
    ASSAY_TRY(text, field->as_string());
  }
  return {};
}

Status read_origin(const JsonField& field, TableOrigin& origin) {
  for (const auto& [key, text] : {std::pair{"created", &origin.created},
                                  {"run", &origin.run},
                                  {"target", &origin.target},
                                  {"condition", &origin.condition},
                                  {"class", &origin.race_class}})
    ASSAY_TRY(read_text(field, key, *text));
  ASSAY_TRY(const JsonField assay, field.at("assay"));
  ASSAY_TRY(read_text(assay, "version", origin.assay_version));
  ASSAY_TRY(read_text(assay, "revision", origin.assay_revision));
  ASSAY_TRY(const JsonField device, field.at("device"));
  ASSAY_TRY(read_text(device, "kind", origin.device_kind));
  ASSAY_TRY(read_text(device, "name", origin.device_name));
  ASSAY_TRY(read_text(device, "id", origin.device_id));
  ASSAY_TRY(const JsonField threads, field.at("threads"));
  ASSAY_TRY(const int64_t count, threads.as_int64(0, 1 << 20));
  origin.threads = static_cast<int>(count);
  ASSAY_TRY(const JsonField list, field.at("libraries"));
  ASSAY_TRY(const auto libraries, list.items());
  for (const JsonField& item : libraries) {
    TableOrigin::Library& library = origin.libraries.emplace_back();
    ASSAY_TRY(read_text(item, "provider", library.provider));
    ASSAY_TRY(read_text(item, "version", library.version));
    ASSAY_TRY(read_text(item, "path", library.path));
    ASSAY_TRY(read_text(item, "sha256", library.sha256));
  }
  return {};
}

Status read_blob(const JsonField& field, TableBlob& blob, std::optional<size_t>& place) {
  ASSAY_TRY(const JsonField number, field.at("place"));
  ASSAY_TRY(const int64_t index, number.as_int64(0, kMostTableKernels));
  place = static_cast<size_t>(index);
  ASSAY_TRY(const JsonField name, field.at("file"));
  ASSAY_TRY(blob.file_name, name.as_string());
  if (!matches_name_rule(blob.file_name))
    return fail(name.error(ErrorCode::invalid_input, "must be a plain file name"));
  ASSAY_TRY(const JsonField target, field.at("target"));
  ASSAY_TRY(blob.target, target.as_string());
  if (const auto parsed = Target::parse(blob.target); !parsed)
    return fail(target.error(ErrorCode::invalid_input, parsed.error().message));
  ASSAY_TRY(const JsonField visible, field.at("visible"));
  ASSAY_TRY(visible.expect_object());
  blob.visible = visible.json();
  return {};
}

Result<TableKernel> read_kernel(const JsonField& field, std::optional<size_t>& place) {
  TableKernel kernel;
  ASSAY_TRY(const JsonField metadata, field.at("metadata"));
  auto row = KernelMetadata::from_json(metadata.json());
  if (!row) return fail(metadata.error(ErrorCode::invalid_input, row.error().message));
  kernel.metadata = std::move(*row);
  ASSAY_TRY(const JsonField artifact, field.at("artifact"));
  ASSAY_TRY(const JsonField hash, artifact.at("hash"));
  ASSAY_TRY(kernel.artifact_hash, hash.as_string());
  ASSAY_TRY(const JsonField facts, artifact.at("facts"));
  ASSAY_TRY(facts.expect_object());
  kernel.artifact_facts = facts.json();
  ASSAY_TRY(const JsonField sample, field.at("sample"));
  ASSAY_TRY(sample.expect_object());
  kernel.sample = sample.json();
  if (const auto blob = artifact.find("blob"); blob && !blob->is_null())
    ASSAY_TRY(read_blob(*blob, kernel.blob.emplace(), place));
  return kernel;
}

Result<TableKind> read_kind(const JsonField& field) {
  TableKind kind;
  ASSAY_TRY(const JsonField text, field.at("text"));
  ASSAY_TRY(kind.text, text.as_string());
  ASSAY_TRY(const JsonField list, field.at("dimensions"));
  ASSAY_TRY(const auto names, list.items());
  for (const JsonField& name : names) {
    ASSAY_TRY(kind.dimensions.emplace_back(), name.as_string());
  }
  if (kind.dimensions.empty() || kind.dimensions.size() > kMostDimensions)
    return fail(list.error(ErrorCode::invalid_input, "must name 1 to 8 dimensions"));
  ASSAY_TRY(const JsonField numbers, field.at("weights"));
  ASSAY_TRY(const auto weights, numbers.items());
  for (const JsonField& weight : weights) {
    ASSAY_TRY(const double value, weight.as_double(kLeastWeight, kMostWeight));
    kind.weights.push_back(static_cast<float>(value));
  }
  if (kind.weights.size() != kind.dimensions.size())
    return fail(numbers.error(ErrorCode::invalid_input, "must be one for each dimension"));
  ASSAY_TRY(const JsonField measures, field.at("measures"));
  ASSAY_TRY(const int64_t count, measures.as_int64(static_cast<int64_t>(kind.dimensions.size()),
                                                   static_cast<int64_t>(Measures::kMost)));
  kind.measures = static_cast<size_t>(count);
  return kind;
}

}  // namespace

Json head_of(const TableContents& contents) {
  Json kernels = Json::array();
  size_t place = 0;
  for (const TableKernel& kernel : contents.kernels) {
    Json artifact = {{"hash", kernel.artifact_hash}, {"facts", kernel.artifact_facts}};
    if (kernel.blob)
      artifact["blob"] = {{"place", place++},
                          {"file", kernel.blob->file_name},
                          {"target", kernel.blob->target},
                          {"visible", kernel.blob->visible}};
    kernels.push_back({{"metadata", kernel.metadata.to_json()},
                       {"artifact", std::move(artifact)},
                       {"sample", kernel.sample}});
  }
  Json kinds = Json::array();
  for (const TableKind& kind : contents.kinds)
    kinds.push_back({{"text", kind.text},
                     {"dimensions", kind.dimensions},
                     {"weights", kind.weights},
                     {"measures", kind.measures}});
  return {{"schema", kTableSchema},
          {"origin", origin_json(contents.origin)},
          {"kernels", std::move(kernels)},
          {"kinds", std::move(kinds)}};
}

Result<TableHead> read_head(std::string_view text, std::string_view origin) {
  ASSAY_TRY(const JsonDocument document, parse_json_document(text, origin));
  const JsonField root(document);
  ASSAY_TRY(root.expect_object());
  ASSAY_TRY(const JsonField schema, root.at("schema"));
  ASSAY_TRY(const std::string name, schema.as_string());
  if (name != kTableSchema)
    return fail(schema.error(ErrorCode::invalid_input, fmt::format("must be {}", kTableSchema)));
  TableHead head;
  ASSAY_TRY(const JsonField from, root.at("origin"));
  ASSAY_TRY(read_origin(from, head.contents.origin));
  ASSAY_TRY(const JsonField kernels, root.at("kernels"));
  ASSAY_TRY(const auto rows, kernels.items());
  if (rows.size() > kMostTableKernels)
    return fail(kernels.error(ErrorCode::invalid_input, "are more than any table has"));
  for (const JsonField& row : rows) {
    auto& place = head.blob_of.emplace_back();
    ASSAY_TRY(head.contents.kernels.emplace_back(), read_kernel(row, place));
  }
  ASSAY_TRY(const JsonField kinds, root.at("kinds"));
  ASSAY_TRY(const auto texts, kinds.items());
  for (const JsonField& kind : texts) {
    ASSAY_TRY(head.contents.kinds.emplace_back(), read_kind(kind));
  }
  return head;
}

}  // namespace assay
