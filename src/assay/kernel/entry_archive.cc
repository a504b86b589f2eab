#include "assay/kernel/entry_archive.h"

#include <utility>

#include "assay/base/archive.h"
#include "assay/base/hash.h"
#include "assay/kernel/metadata_identity.h"

namespace assay {
namespace {

using Constraint = std::pair<std::string, Expression>;

Error wrong(const JsonField& field, const Error& why) {
  return field.error(ErrorCode::invalid_input, why.message);
}

}  // namespace

Json write_value(const std::filesystem::path& path, RecordTag) { return path.string(); }
Status read_value(const JsonField& field, std::filesystem::path& path) {
  ASSAY_TRY(path, field.as_string());
  return {};
}

Json write_value(const Value& value, RecordTag) { return design_json(value); }
Status read_value(const JsonField& field, Value& value) {
  auto read = design_value(field.json());
  if (!read)
    return fail(field.error(ErrorCode::invalid_input, "must be a number, a text, true or false"));
  value = std::move(*read);
  return {};
}

Json write_value(const Constraint& constraint, RecordTag) { return constraint.first; }
Status read_value(const JsonField& field, Constraint& constraint) {
  ASSAY_TRY(constraint.first, field.as_string());
  auto parsed = Expression::parse(constraint.first);
  if (!parsed) return fail(wrong(field, parsed.error()));
  constraint.second = std::move(*parsed);
  return {};
}

Json write_value(const std::shared_ptr<const ProblemRule>& rule, RecordTag) {
  return rule ? rule->to_json() : Json();
}
Status read_value(const JsonField& field, std::shared_ptr<const ProblemRule>& rule) {
  auto read = ProblemRule::from_json(field.json());
  if (!read) return fail(wrong(field, read.error()));
  rule = std::make_shared<const ProblemRule>(std::move(*read));
  return {};
}

Json write_value(ErrorBound bound, RecordTag) { return std::string(to_string(bound)); }
Status read_value(const JsonField& field, ErrorBound& bound) {
  ASSAY_TRY(const std::string text, field.as_string());
  const auto parsed = parse_error_bound(text);
  if (!parsed) return fail(wrong(field, parsed.error()));
  bound = *parsed;
  return {};
}

template <class Archive, archive::Is<KernelEntry::Tunable> Tunable>
void describe(Archive& archive, Tunable& tunable) {
  archive.required("name", tunable.name);
  archive.required("values", tunable.values);
}

template <class Archive, archive::Is<KernelEntry::Launch::Map> Map>
void describe(Archive& archive, Map& map) {
  archive.required("role", map.role);
  archive.required("box", map.box);
  archive("swizzle", map.swizzle, archive::kNotNegative);
  archive("promotion", map.promotion, archive::kNotNegative);
}

template <class Archive, archive::Is<KernelEntry::Launch> Launch>
void describe(Archive& archive, Launch& launch) {
  archive.required("grid", launch.grid);
  archive("block", launch.block);
  archive("cluster", launch.cluster);
  archive("shared", launch.shared_text);
  archive("dependent", launch.dependent);
  archive("maps", launch.maps);
}

template <class Archive, archive::Is<KernelEntry> Entry>
void describe(Archive& archive, Entry& entry) {
  archive.required("name", entry.name);
  archive("provider", entry.provider);
  archive.required("source", entry.source);
  archive.required("origin", entry.origin);
  archive("entry", entry.entry);
  archive("rule", entry.rule);
  archive("args", entry.args);
  archive("tunables", entry.tunables);
  archive("constraints", entry.constraints);
  archive("flags", entry.flags);
  archive("workspace", entry.workspace_text);
  archive("specialised_on", entry.specialised_on);
  archive("prepare_entry", entry.prepare_entry);
  archive("prepare_bytes", entry.prepare_bytes_text);
  archive("prepare_args", entry.prepare_args);
  archive("launch", entry.launch);
  archive("deterministic", entry.deterministic);
  archive("error", entry.error_bound);
}

Json to_json(const KernelEntry& entry) { return archive::write_any(entry); }

Result<KernelEntry> entry_from_json(const JsonField& field) {
  KernelEntry entry;
  ASSAY_TRY(archive::read_any(field, entry));
  return entry;
}

std::string call_of(const KernelEntry& entry) {
  Json call = {{"args", entry.args}};
  if (entry.launch) call["launch"] = archive::write_any(*entry.launch);
  if (!entry.workspace_text.empty()) call["workspace"] = entry.workspace_text;
  if (!entry.prepare_entry.empty())
    call["prepare"] = {{"entry", entry.prepare_entry},
                       {"bytes", entry.prepare_bytes_text},
                       {"args", entry.prepare_args}};
  return canonical(call);
}

}  // namespace assay
