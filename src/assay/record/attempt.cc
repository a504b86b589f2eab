#include "assay/record/attempt.h"

#include <array>
#include <utility>

#include "assay/base/archive_schema.h"
#include "assay/base/choices.h"
#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/record/describe_attempt.h"
#include "assay/record/describe_confirm.h"
#include "assay/record/schemas.h"

namespace assay {
namespace {

constexpr std::array<std::pair<AttemptOutcome, std::string_view>, 13> kOutcomes = {{
    {AttemptOutcome::keep, "keep"},
    {AttemptOutcome::near_tie, "near_tie"},
    {AttemptOutcome::discard, "discard"},
    {AttemptOutcome::setup_failed, "setup_failed"},
    {AttemptOutcome::build_failed, "build_failed"},
    {AttemptOutcome::tests_failed, "tests_failed"},
    {AttemptOutcome::parity_failed, "parity_failed"},
    {AttemptOutcome::guardrail_failed, "guardrail_failed"},
    {AttemptOutcome::holdout_failed, "holdout_failed"},
    {AttemptOutcome::crash, "crash"},
    {AttemptOutcome::timeout, "timeout"},
    {AttemptOutcome::violation, "violation"},
    {AttemptOutcome::interrupted, "interrupted"},
}};

}  // namespace

std::string_view to_string(AttemptOutcome outcome) {
  for (const auto& [value, text] : kOutcomes)
    if (value == outcome) return text;
  return "interrupted";
}

Result<AttemptOutcome> parse_attempt_outcome(std::string_view text) {
  for (const auto& [value, name] : kOutcomes)
    if (name == text) return value;
  return fail(ErrorCode::invalid_input, "'{}' is no outcome of an attempt", sanitize(text, 60));
}

bool is_decided(AttemptOutcome outcome) {
  return outcome == AttemptOutcome::keep || outcome == AttemptOutcome::near_tie ||
         outcome == AttemptOutcome::discard;
}

inline Json schema_value(SchemaOf<AttemptOutcome>, SchemaTypes&) {
  return enum_schema<AttemptOutcome>(parse_attempt_outcome);
}

inline Status read_value(const JsonField& field, AttemptOutcome& outcome) {
  ASSAY_TRY(const std::string text, field.as_string());
  const auto parsed = parse_attempt_outcome(text);
  if (!parsed) return fail(field.error(ErrorCode::invalid_input, parsed.error().message));
  outcome = *parsed;
  return {};
}

stats::KeepOptions keep_options(const AttemptRules& rules) {
  return {.min_effect = rules.min_effect,
          .looks = rules.looks,
          .false_keeps = rules.false_keeps,
          .trim_fraction = rules.trim_fraction,
          .systematic = rules.systematic};
}

Result<stats::KeepDecision> decide_again(const AttemptRecord& record) {
  if (!record.rules || record.rules->looks.empty())
    return fail(ErrorCode::not_found, "attempt {} was not measured", record.id);
  std::vector<double> ratios;
  for (const AttemptPair& pair : record.pairs)
    if (const auto found = pair.log_ratios.find(record.rules->metric);
        found != pair.log_ratios.end())
      ratios.push_back(found->second);
  stats::KeepDecision decision =
      stats::decide_keep(ratios, keep_options(*record.rules), record.rules->budget_over);
  if (const std::size_t spoiled = record.pairs.size() - ratios.size(); spoiled > 0)
    decision.reason += fmt::format("; others were at work in {} of {} pairs, which do not count",
                                   spoiled, record.pairs.size());
  return decision;
}

Json to_json(const AttemptRecord& record) {
  Json json = archive::write_any(record);
  json["schema"] = kAttemptRecordSchema;
  return json;
}

Json attempt_schema() {
  return file_schema<AttemptRecord>(
      "The record of an attempt of a lab's case (record.json below its runs)",
      {{"const", std::string(kAttemptRecordSchema)}});
}

Result<AttemptRecord> read_attempt_record(const JsonDocument& document) {
  const JsonField root(document);
  ASSAY_TRY(root.expect_object());
  ASSAY_TRY(const JsonField schema, root.at("schema"));
  ASSAY_TRY(const std::string text, schema.as_string());
  if (text != kAttemptRecordSchema)
    return fail(schema.error(ErrorCode::invalid_input,
                             fmt::format("'{}' is no record of an attempt; expected {}",
                                         sanitize(text, 60), kAttemptRecordSchema)));
  AttemptRecord record;
  ASSAY_TRY(archive::read_any(root, record));
  return record;
}

Result<AttemptRecord> load_attempt_record(const std::string& path) {
  ASSAY_TRY(const std::string text, read_file(path));
  ASSAY_TRY(const JsonDocument document, parse_json_document(text, path));
  return read_attempt_record(document);
}

}  // namespace assay
