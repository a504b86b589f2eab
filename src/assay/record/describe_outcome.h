#pragma once

// The fields of a KernelOutcome and of its ending. Private to record/.

#include <variant>

#include "assay/base/archive.h"
#include "assay/base/archive_schema.h"
#include "assay/base/text.h"
#include "assay/record/outcome.h"

namespace assay {

// An error of a parser, with the field's place in front.
inline Error in_field(const JsonField& field, const Error& error) {
  return field.error(error.code, error.message);
}

template <class A, archive::Is<Finding> T>
void describe(A& a, T& finding) {
  a.required("code", finding.code);
  a("sentence", finding.sentence);
}

template <class A, archive::Is<ending::Timed> T>
void describe(A&, T&) {}
template <class A, archive::Is<ending::Refusal> T>
void describe(A& a, T& refusal) {
  a("reasons", refusal.reasons);
}
template <class A, archive::Is<ending::BuildFailure> T>
void describe(A& a, T& failure) {
  a("message", failure.message);
}
template <class A, archive::Is<ending::Mismatch> T>
void describe(A& a, T& mismatch) {
  a("message", mismatch.message);
}
template <class A, archive::Is<ending::Crash> T>
void describe(A& a, T& crash) {
  a("signal", crash.signal, archive::kNotNegative);
  a("exit_code", crash.exit_code);
  a("stage", crash.stage);
  a("stderr_tail", crash.stderr_tail);
}
template <class A, archive::Is<ending::Timeout> T>
void describe(A& a, T& timeout) {
  a("stage", timeout.stage);
  a("limit_seconds", timeout.limit_seconds, archive::kNotNegative);
}
template <class A, archive::Is<ending::OutOfMemory> T>
void describe(A& a, T& memory) {
  a("stage", memory.stage);
  a("limit_bytes", memory.limit_bytes, archive::kNotNegative);
}
template <class A, archive::Is<ending::DeviceLost> T>
void describe(A& a, T& lost) {
  a("message", lost.message);
}
template <class A, archive::Is<ending::Violation> T>
void describe(A& a, T& violation) {
  a("code", violation.code);
  a("message", violation.message);
}
template <class A, archive::Is<ending::NotReached> T>
void describe(A& a, T& reached) {
  a("message", reached.message);
}

// A template, so that an alternative does not pass for the variant that it converts to.
template <archive::Is<Ending> T>
Json write_value(const T& ending, RecordTag) {
  Json json = std::visit([](const auto& one) { return archive::write_any(one); }, ending);
  json["kind"] = std::string(ending_name(ending));
  return json;
}

// Finds the alternative whose name is `kind`, and reads its fields.
template <std::size_t I = 0>
Status read_ending(const JsonField& field, std::string_view kind, Ending& ending) {
  if constexpr (I == std::variant_size_v<Ending>) {
    return fail(field.error(
        ErrorCode::invalid_input,
        fmt::format("a trial does not end as '{}'; it ends as timed, refusal, build_failure, "
                    "mismatch, crash, timeout, out_of_memory, device_lost, violation or "
                    "not_reached",
                    sanitize(kind, 80))));
  } else {
    Ending candidate(std::in_place_index<I>);
    if (ending_name(candidate) != kind) return read_ending<I + 1>(field, kind, ending);
    ASSAY_TRY(archive::read_any(field, std::get<I>(candidate)));
    ending = std::move(candidate);
    return {};
  }
}

inline Status read_value(const JsonField& field, Ending& ending) {
  ASSAY_TRY(const JsonField kind_field, field.at("kind"));
  ASSAY_TRY(const std::string kind, kind_field.as_string());
  return read_ending(field, kind, ending);
}

template <std::size_t... I>
Json ending_schemas(SchemaTypes& types, std::index_sequence<I...>) {
  Json all = Json::array();
  const auto add = [&](Json schema, const Ending& ending) {
    schema["properties"]["kind"] = {{"const", std::string(ending_name(ending))}};
    schema["required"].push_back("kind");
    all.push_back(std::move(schema));
  };
  (add(archive::object_schema<std::variant_alternative_t<I, Ending>>(types),
       Ending(std::in_place_index<I>)),
   ...);
  return all;
}

inline Json schema_value(SchemaOf<Ending>, SchemaTypes& types) {
  return {
      {"anyOf", ending_schemas(types, std::make_index_sequence<std::variant_size_v<Ending>>())}};
}

inline Json schema_value(SchemaOf<KernelRole>, SchemaTypes&) {
  return enum_schema<KernelRole>(parse_kernel_role);
}

inline Status read_value(const JsonField& field, KernelRole& role) {
  ASSAY_TRY(const std::string text, field.as_string());
  const Result<KernelRole> parsed = parse_kernel_role(text);
  if (!parsed) return fail(in_field(field, parsed.error()));
  role = *parsed;
  return {};
}

inline Json write_value(const CompactJson& json, RecordTag) { return json.json(); }
inline Json write_value(const MetadataJson& json, RecordTag) { return json.json(); }

// Whatever there is: facts of artifacts, and a kernel's metadata, which kernel/metadata.h reads.
inline Json schema_value(SchemaOf<CompactJson>, SchemaTypes&) { return Json::object(); }
inline Json schema_value(SchemaOf<MetadataJson>, SchemaTypes&) { return Json::object(); }

inline Status read_value(const JsonField& field, CompactJson& json) {
  json = CompactJson(field.json());
  return {};
}

inline Status read_value(const JsonField& field, MetadataJson& json) {
  json = MetadataJson(field.json());
  return {};
}

template <class A, archive::Is<ProofCheck> T>
void describe(A& a, T& check) {
  a.required("input", check.input);
  a("method", check.method);
  a("elements", check.elements, archive::kNotNegative);
  a("compared", check.compared, archive::kNotNegative);
  a("wrong", check.wrong, archive::kNotNegative);
  a("max_error", check.max_error, archive::kNotNegative);
  a("mean_error", check.mean_error, archive::kNotNegative);
  a("smallest_visible", check.smallest_visible, archive::kNotNegative);
  a("first_wrong", check.first_wrong);
}

template <class A, archive::Is<RmsError> T>
void describe(A& a, T& error) {
  a("elements", error.elements, archive::kNotNegative);
  a("rms", error.rms, archive::kNotNegative);
}

inline Json schema_value(SchemaOf<ErrorBound>, SchemaTypes&) {
  return enum_schema<ErrorBound>(parse_error_bound);
}

inline Status read_value(const JsonField& field, ErrorBound& bound) {
  ASSAY_TRY(const std::string text, field.as_string());
  const Result<ErrorBound> parsed = parse_error_bound(text);
  if (!parsed) return fail(in_field(field, parsed.error()));
  bound = *parsed;
  return {};
}

template <class A, archive::Is<ProofSummary> T>
void describe(A& a, T& proof) {
  a.required("right", proof.right);
  // Of all others records say nothing, as earlier ones do.
  if (!std::is_const_v<T> || proof.error_bound != ErrorBound::elementwise)
    a("error", proof.error_bound);
  a("checks", proof.checks);
  a("max_error", proof.max_error, archive::kNotNegative);
  a("mean_error", proof.mean_error, archive::kNotNegative);
  a("ordinary_lines", proof.ordinary_lines);
  a("wide_lines", proof.wide_lines);
  a("method", proof.method);
  a("smallest_visible", proof.smallest_visible, archive::kNotNegative);
  a("launches", proof.launches, archive::kNotNegative);
  a("bitwise_repeatable", proof.bitwise_repeatable);
}

template <class A, archive::Is<RaceSummary> T>
void describe(A& a, T& race) {
  a("rounds", race.rounds, archive::kNotNegative);
  a("clean_rounds", race.clean_rounds, archive::kNotNegative);
  a("median_us", race.median_us, archive::kNotNegative);
  a("dropped_after", race.dropped_after, archive::kNotNegative);
  a("reason", race.reason);
}

template <class A, archive::Is<EventCounts> T>
void describe(A& a, T& counts) {
  a("launches", counts.launches, archive::kNotNegative);
  a("clock_hz", counts.clock_hz, archive::kNotNegative);
  a("per_launch", counts.per_launch, archive::kNotNegative);
  a("unavailable", counts.unavailable);
}

template <class A, archive::Is<GpuLaunchFacts> T>
void describe(A& a, T& launch) {
  a.required("blocks", launch.blocks, archive::kNotNegative);
  a.required("threads", launch.threads, archive::kNotNegative);
  a("cluster_blocks", launch.cluster_blocks, archive::kPositive);
  a("registers", launch.registers, archive::kNotNegative);
  a("local_bytes", launch.local_bytes, archive::kNotNegative);
  a("shared_bytes", launch.shared_bytes, archive::kNotNegative);
  a("resident_blocks", launch.resident_blocks, archive::kNotNegative);
  a("multiprocessors", launch.multiprocessors, archive::kNotNegative);
  a("most_threads", launch.most_threads, archive::kNotNegative);
}

template <class A, archive::Is<KernelOutcome> T>
void describe(A& a, T& outcome) {
  a.required("id", outcome.id);
  a.required("provider", outcome.provider);
  a.required("name", outcome.name);
  a.required("role", outcome.role);
  a("metadata", outcome.metadata);
  a("artifact_hash", outcome.artifact_hash);
  a("artifact_facts", outcome.artifact_facts);
  a("workspace_bytes", outcome.workspace_bytes);
  a("prepared_bytes", outcome.prepared_bytes);
  a("prepare_seconds", outcome.prepare_seconds, archive::kNotNegative);
  if constexpr (std::is_const_v<T>) {
    if (outcome.own_memory_bytes) a("own_memory_bytes", outcome.own_memory_bytes);
  } else {
    a("own_memory_bytes", outcome.own_memory_bytes, archive::kNotNegative);
  }
  a("build_seconds", outcome.build_seconds, archive::kNotNegative);
  a("launches", outcome.launches);
  a.required("ending", outcome.ending);
  a("proof", outcome.proof);
  a("findings", outcome.findings);
  a("race", outcome.race);
  if constexpr (std::is_const_v<T>) {
    if (!outcome.ranks.empty()) a("ranks", outcome.ranks);
  } else {
    a("ranks", outcome.ranks, archive::Range{1, 1e9});
  }
}

}  // namespace assay
