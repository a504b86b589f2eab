// A record as JSON and back. Each struct is described once, for reading and for writing.

#include <set>

#include "assay/base/archive.h"
#include "assay/base/archive_schema.h"
#include "assay/base/text.h"
#include "assay/record/describe_confirm.h"
#include "assay/record/describe_environment.h"
#include "assay/record/describe_gpu_profile.h"
#include "assay/record/describe_gpu_window.h"
#include "assay/record/describe_outcome.h"
#include "assay/record/describe_own_clock.h"
#include "assay/record/environment_json.h"
#include "assay/record/record.h"
#include "assay/record/schemas.h"

namespace assay {

using archive::Is;
using archive::kNotNegative;
using archive::Range;

namespace {

constexpr Range kConfidence{1e-6, 1 - 1e-9};

}  // namespace

template <class A, Is<Condition> T>
void describe(A& a, T& condition) {
  a("cache", condition.cache);
  a("spacing", condition.spacing);
  a("launch", condition.launch);
}

template <class A, Is<RaceClass> T>
void describe(A& a, T& race_class) {
  a("preparation", race_class.preparation);
  a("dependent_launch", race_class.dependent_launch);
}

template <class A, Is<RefusalCountRecord> T>
void describe(A& a, T& refusal) {
  a.required("count", refusal.count, kNotNegative);
  a("example", refusal.example);
}

template <class A, Is<RaceRecord> T>
void describe(A& a, T& race) {
  a("rounds", race.rounds, kNotNegative);
  a("looks", race.looks, kNotNegative);
  a("dropped", race.dropped, kNotNegative);
  a("spoiled_rounds", race.spoiled_rounds, kNotNegative);
  a("seconds", race.seconds, kNotNegative);
  a("end", race.end);
}

template <class A, Is<RankingRecord::Asked> T>
void describe(A& a, T& asked) {
  a.required("name", asked.name);
  a("version", asked.version);
  a("path", asked.path);
  a("missing", asked.missing);
  a("scored", asked.scored, kNotNegative);
  a("unscored", asked.unscored, kNotNegative);
}

template <class A, Is<RankingRecord> T>
void describe(A& a, T& ranking) {
  a("ranker", ranking.ranker);
  a("build", ranking.build, kNotNegative);
  a("costly", ranking.costly, kNotNegative);
  a("not_built", ranking.not_built, kNotNegative);
  a("rankers", ranking.rankers);
}

template <class A, Is<ProblemRecord> T>
void describe(A& a, T& problem) {
  a.required("name", problem.name);
  a.required("key", problem.key);
  a("operation", problem.operation);
  a("role", problem.role);
  a("weight", problem.weight, kNotNegative);
  a("problem", problem.problem);
  a("condition", problem.condition);
  a("class", problem.race_class);
  a("flops", problem.flops, kNotNegative);
  a("bytes", problem.bytes, kNotNegative);
  a.required("kernels", problem.kernels);
  a("refusals", problem.refusals);
  a("race", problem.race);
  a("confirmations", problem.confirmations);
  a("ceiling_share", problem.ceiling_share, kNotNegative);
  a("ceiling", problem.ceiling);
  a("ceiling_value", problem.ceiling_value, kNotNegative);
  a("no_winner", problem.no_winner);
  a("findings", problem.findings);
  a("counts", problem.counts);
  if constexpr (std::is_const_v<T>) {
    if (!problem.profiles.empty()) a("profiles", problem.profiles);
    if (problem.ranking) a("ranking", problem.ranking);
    if (problem.gpu) a("card", problem.gpu);
    if (problem.own_clock) a("own_clock", problem.own_clock);
    if (!problem.evidence_hash.empty()) a("evidence_hash", problem.evidence_hash);
  } else {
    a("profiles", problem.profiles);
    a("ranking", problem.ranking);
    a("card", problem.gpu);
    a("own_clock", problem.own_clock);
    a("evidence_hash", problem.evidence_hash);
  }
}

namespace {

// Every id that a confirmation speaks of is a kernel of its problem.
Status check_ids(const JsonField& field, const ProblemRecord& problem) {
  std::set<std::string_view> known;
  for (const KernelOutcome& kernel : problem.kernels) {
    if (!known.insert(kernel.id).second) {
      return fail(field.error(ErrorCode::invalid_input,
                              fmt::format("kernel {} is there twice; ids are unique in a problem",
                                          sanitize(kernel.id, 80))));
    }
  }
  Status status;
  const auto check = [&](std::string_view id, std::string_view where) {
    if (!status || id.empty() || known.contains(id)) return;
    status = fail(field.error(
        ErrorCode::invalid_input,
        fmt::format("{} names {}, which is no kernel of this problem", where, sanitize(id, 80))));
  };
  for (const Confirmation& confirmation : problem.confirmations) {
    std::set<std::string_view> finalists;
    for (const std::string& id : confirmation.finalists) {
      check(id, "finalists");
      if (!finalists.insert(id).second && status)
        status = fail(field.error(ErrorCode::invalid_input,
                                  fmt::format("finalists names {} twice", sanitize(id, 80))));
    }
    check(confirmation.leader, "leader");
    check(confirmation.candidate, "candidate");
    check(confirmation.baseline, "baseline");
    for (const ProcessSamples& process : confirmation.processes) {
      for (const KernelSamples& kernel : process.kernels) check(kernel.id, "processes");
      // What is subtracted decides the words.
      if (status && process.bare_links.has_value() != (problem.condition.spacing == "chain"))
        status = fail(field.error(ErrorCode::invalid_input,
                                  "processes: bare_links are there in a chain, and only there"));
    }
    const Conclusion& conclusion = confirmation.conclusion;
    check(conclusion.winner, "winner");
    for (const auto* list : {&conclusion.tied, &conclusion.unclear, &conclusion.ahead}) {
      for (const std::string& id : *list) check(id, "conclusion");
    }
    for (const auto* pairs : {&conclusion.against_leader, &conclusion.against_stock}) {
      for (const PairVerdict& pair : *pairs) {
        check(pair.candidate, "conclusion");
        check(pair.other, "conclusion");
      }
    }
    if (conclusion.headline) {
      check(conclusion.headline->candidate, "headline");
      check(conclusion.headline->other, "headline");
    }
    for (const Conclusion::Time& time : conclusion.times) check(time.id, "times");
  }
  return status;
}

Status check_problem(const JsonField& field, const ProblemRecord& problem) {
  if (!matches_name_rule(problem.name)) {
    return fail(field.error(
        ErrorCode::invalid_input,
        fmt::format("name '{}' is not made of A-Z a-z 0-9 _ . - alone, at most 200 of them",
                    sanitize(problem.name, 80))));
  }
  return check_ids(field, problem);
}

}  // namespace

Status read_value(const JsonField& field, ProblemRecord& problem) {
  RecordReader reader(field);
  describe(reader, problem);
  ASSAY_TRY(reader.status());
  return check_problem(field, problem);
}

template <class A, Is<RunOptions> T>
void describe(A& a, T& options) {
  a("margin", options.margin, Range{1e-9, 10});
  a("confidence", options.confidence, kConfidence);
  a("processes", options.processes, kNotNegative);
  a("most_processes", options.most_processes, kNotNegative);
  a("min_processes", options.min_processes, kNotNegative);
  a("placements", options.placements, kNotNegative);
  a("systematic_error", options.systematic_error, kNotNegative);
  a("budget_seconds", options.budget_seconds, kNotNegative);
  a("exhaustive", options.exhaustive);
  a("threads", options.threads, kNotNegative);
  a("suite", options.suite);
  a("model", options.model);
  a("tensor_parallel", options.tensor_parallel, kNotNegative);
  a("filter", options.filter);
  a("kernels", options.kernels);
  a("providers", options.providers);
  a("settings", options.settings);
  a("ranker", options.ranker);
  a("build", options.build, kNotNegative);
  a("systematic_error_apart", options.systematic_error_apart, kNotNegative);
  a("rules", options.rules, Range{1, 1e6});
}

template <class A, Is<ModelTime> T>
void describe(A& a, T& time) {
  a.required("m", time.m, kNotNegative);
  a("calls", time.calls, kNotNegative);
  a("default_us", time.default_us, kNotNegative);
  a("best_stock_us", time.best_stock_us, kNotNegative);
  a("best_us", time.best_us, kNotNegative);
  a("missing", time.missing);
}

template <class A, Is<Totals> T>
void describe(A& a, T& totals) {
  a("timed_seconds", totals.timed_seconds, kNotNegative);
  a("wall_seconds", totals.wall_seconds, kNotNegative);
  a("trials", totals.trials, kNotNegative);
  a("proven", totals.proven, kNotNegative);
  a("wrong", totals.wrong, kNotNegative);
  a("crashed", totals.crashed, kNotNegative);
  a("refused", totals.refused, kNotNegative);
  a("left_out", totals.left_out, kNotNegative);
}

Json schema_value(SchemaOf<TrustGrade>, SchemaTypes&) {
  return enum_schema<TrustGrade>(parse_trust_grade);
}

Status read_value(const JsonField& field, TrustGrade& grade) {
  ASSAY_TRY(const std::string text, field.as_string());
  const Result<TrustGrade> parsed = parse_trust_grade(text);
  if (!parsed) return fail(in_field(field, parsed.error()));
  grade = *parsed;
  return {};
}

template <class A, Is<SourceStamp> T>
void describe(A& a, T& source) {
  a.required("given", source.given);
  a.required("sha256", source.sha256);
}

template <class A, Is<RunRecord> T>
void describe(A& a, T& record) {
  a("id", record.id);
  a("kind", record.kind);
  a("created", record.created);
  a("command_line", record.command_line);
  a("assay_version", record.assay_version);
  a("assay_build", record.assay_build);
  a("environment", record.environment);
  a("options", record.options);
  if constexpr (std::is_const_v<T>) {
    if (!record.sources.empty()) a("sources", record.sources);
  } else {
    a("sources", record.sources);
  }
  a("trust", record.trust);
  a("trust_reason", record.trust_reason);
  a("findings", record.findings);
  a.required("problems", record.problems);
  a("model", record.model);
  a("totals", record.totals);
}

namespace {

template <class T>
Result<T> read_one(const JsonField& field) {
  T value;
  ASSAY_TRY(archive::read_any(field, value));
  return value;
}

// "assay.record/1": this major version and no other.
Status check_schema(const JsonField& root) {
  ASSAY_TRY(const JsonField field, root.at("schema"));
  ASSAY_TRY(const std::string schema, field.as_string());
  if (schema == kRecordSchema || schema.starts_with(std::string(kRecordSchema) + ".")) return {};
  const bool newer = schema.starts_with("assay.record/");
  return fail(
      field.error(ErrorCode::invalid_input,
                  fmt::format("'{}' is not read here; {} is{}", sanitize(schema, 80), kRecordSchema,
                              newer ? ": a newer assay wrote this file" : "")));
}

}  // namespace

Json to_json(const Environment& environment) { return archive::write_any(environment); }
Json to_json(const KernelOutcome& outcome) { return archive::write_any(outcome); }
Json to_json(const ProcessSamples& samples) { return archive::write_any(samples); }
Json to_json(const Confirmation& confirmation) { return archive::write_any(confirmation); }
Json to_json(const RaceRecord& race) { return archive::write_any(race); }
Json to_json(const ProblemRecord& problem) { return archive::write_any(problem); }
Json to_json(const GpuWindow& window) { return archive::write_any(window); }
Json to_json(const GpuLaunchFacts& launch) { return archive::write_any(launch); }
Json to_json(const stats::Verdict& verdict) { return archive::write_any(verdict); }
Json to_json(const ModelTime& time) { return archive::write_any(time); }
Json to_json(const RunRecord& record) {
  Json json = archive::write_any(record);
  json["schema"] = std::string(kRecordSchema);
  return json;
}
Json record_schema() {
  return file_schema<RunRecord>(
      "The record of a run (record.json), as a race or a sweep leaves it behind",
      {{"type", "string"}, {"pattern", fmt::format("^{}(\\..*)?$", kRecordSchema)}});
}
Json head_json(const ProblemRecord& problem) {
  HeadWriter<KernelOutcome> writer;
  describe(writer, problem);
  return writer.take();
}
Json head_json(const RunRecord& record) {
  HeadWriter<ProblemRecord> writer;
  describe(writer, record);
  Json json = writer.take();
  json["schema"] = std::string(kRecordSchema);
  return json;
}

Result<Environment> read_environment(const JsonField& field) {
  return read_one<Environment>(field);
}
Result<KernelOutcome> read_kernel_outcome(const JsonField& field) {
  return read_one<KernelOutcome>(field);
}
Result<RaceRecord> read_race_record(const JsonField& field) { return read_one<RaceRecord>(field); }
Result<GpuWindow> read_gpu_window(const JsonField& field) { return read_one<GpuWindow>(field); }
Result<GpuLaunchFacts> read_gpu_launch_facts(const JsonField& field) {
  return read_one<GpuLaunchFacts>(field);
}
Result<ProcessSamples> read_process_samples(const JsonField& field) {
  return read_one<ProcessSamples>(field);
}
Result<Confirmation> read_confirmation(const JsonField& field) {
  return read_one<Confirmation>(field);
}
Result<ProblemRecord> read_problem_record(const JsonField& field) {
  return read_one<ProblemRecord>(field);
}
Result<ProblemRecord> read_problem_record(const JsonField& head,
                                          std::vector<KernelOutcome> kernels) {
  ProblemRecord problem;
  RecordReader reader(head);
  describe(reader, problem);
  ASSAY_TRY(reader.status());
  problem.kernels = std::move(kernels);
  ASSAY_TRY(check_problem(head, problem));
  return problem;
}
Json environment_json(const Environment& environment) { return archive::write_any(environment); }

Result<stats::Verdict> read_verdict(const JsonField& field) {
  return read_one<stats::Verdict>(field);
}

namespace {

void hash_as_read(const Json& root, RunRecord& record) {
  Json head = Json::object();
  for (const auto& [key, value] : root.items())
    head[key] = key == "problems" ? Json::array() : value;
  for (std::size_t i = 0; i < record.problems.size(); ++i)
    if (ProblemRecord& problem = record.problems[i]; !problem.evidence_hash.empty())
      problem.evidence_hash_as_read = hash_of_evidence(head, root["problems"][i]);
}

}  // namespace

Result<RunRecord> read_record(const JsonDocument& document) {
  const JsonField root(document);
  ASSAY_TRY(root.expect_object());
  ASSAY_TRY(check_schema(root));
  ASSAY_TRY(RunRecord record, read_one<RunRecord>(root));
  hash_as_read(root.json(), record);
  std::set<std::string_view> seen;
  for (const ProblemRecord& problem : record.problems) {
    if (!seen.insert(problem.key).second) {
      return fail(root.error(ErrorCode::invalid_input,
                             fmt::format("problem {} is there twice", sanitize(problem.key, 200))));
    }
  }
  return record;
}

}  // namespace assay
