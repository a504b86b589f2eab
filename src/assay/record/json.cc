// Every struct of a record, described once for reading and for writing.

#include <algorithm>
#include <cmath>
#include <set>

#include "assay/base/text.h"
#include "assay/record/archive.h"
#include "assay/record/record.h"

namespace assay {

using archive::Is;
using archive::kAny;
using archive::kNotNegative;
using archive::kPositive;
using archive::Range;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Range kConfidence{1e-6, 1 - 1e-9};

Error in_field(const JsonField& field, const Error& error) {
  return field.error(error.code, error.message);
}

}  // namespace

// --- environment -------------------------------------------------------------------------------

template <class A, Is<DeviceStamp> T>
void describe(A& a, T& stamp) {
  a("kind", stamp.kind);
  a("name", stamp.name);
  a("id", stamp.id);
  a("details", stamp.details);
}

template <class A, Is<LibraryStamp> T>
void describe(A& a, T& library) {
  a.required("provider", library.provider);
  a("version", library.version);
  a("path", library.path);
  a("build_hash", library.build_hash);
}

template <class A, Is<Ceiling> T>
void describe(A& a, T& ceiling) {
  a.required("name", ceiling.name);
  a.required("value", ceiling.value, kNotNegative);
  a("unit", ceiling.unit);
  a("threads", ceiling.threads, kNotNegative);
  a("from", ceiling.from);
  a("until", ceiling.until);
}

template <class A, Is<Environment> T>
void describe(A& a, T& environment) {
  a("device", environment.device);
  a("system", environment.system);
  a("os_kernel", environment.os_kernel);
  a("driver", environment.driver);
  a("compiler", environment.compiler);
  a("toolkit", environment.toolkit);
  a("libraries", environment.libraries);
  a("threads", environment.threads, kNotNegative);
  a("pinned_cores", environment.pinned_cores, kNotNegative);
  a("governor", environment.governor);
  a("clock_mhz", environment.clock_mhz, kNotNegative);
  a("huge_pages", environment.huge_pages);
  a("load_before", environment.load_before, kNotNegative);
  a("load_after", environment.load_after, kNotNegative);
  a("ceilings", environment.ceilings);
  a("warnings", environment.warnings);
}

// --- outcome -----------------------------------------------------------------------------------

template <class A, Is<Finding> T>
void describe(A& a, T& finding) {
  a.required("code", finding.code);
  a("sentence", finding.sentence);
}

template <class A, Is<ending::Timed> T>
void describe(A&, T&) {}
template <class A, Is<ending::Refusal> T>
void describe(A& a, T& refusal) {
  a("reasons", refusal.reasons);
}
template <class A, Is<ending::BuildFailure> T>
void describe(A& a, T& failure) {
  a("message", failure.message);
}
template <class A, Is<ending::Mismatch> T>
void describe(A& a, T& mismatch) {
  a("message", mismatch.message);
}
template <class A, Is<ending::Crash> T>
void describe(A& a, T& crash) {
  a("signal", crash.signal, kNotNegative);
  a("exit_code", crash.exit_code);
  a("stage", crash.stage);
  a("stderr_tail", crash.stderr_tail);
}
template <class A, Is<ending::Timeout> T>
void describe(A& a, T& timeout) {
  a("stage", timeout.stage);
  a("limit_seconds", timeout.limit_seconds, kNotNegative);
}
template <class A, Is<ending::OutOfMemory> T>
void describe(A& a, T& memory) {
  a("stage", memory.stage);
  a("limit_bytes", memory.limit_bytes, kNotNegative);
}
template <class A, Is<ending::DeviceLost> T>
void describe(A& a, T& lost) {
  a("message", lost.message);
}
template <class A, Is<ending::Violation> T>
void describe(A& a, T& violation) {
  a("code", violation.code);
  a("message", violation.message);
}
template <class A, Is<ending::NotReached> T>
void describe(A& a, T& reached) {
  a("message", reached.message);
}

// A template, so that an alternative does not pass for the variant that it converts to.
template <Is<Ending> T>
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

Status read_value(const JsonField& field, Ending& ending) {
  ASSAY_TRY(const JsonField kind_field, field.at("kind"));
  ASSAY_TRY(const std::string kind, kind_field.as_string());
  return read_ending(field, kind, ending);
}

Status read_value(const JsonField& field, KernelRole& role) {
  ASSAY_TRY(const std::string text, field.as_string());
  const Result<KernelRole> parsed = parse_kernel_role(text);
  if (!parsed) return fail(in_field(field, parsed.error()));
  role = *parsed;
  return {};
}

template <class A, Is<ProofCheck> T>
void describe(A& a, T& check) {
  a.required("input", check.input);
  a("method", check.method);
  a("elements", check.elements, kNotNegative);
  a("compared", check.compared, kNotNegative);
  a("wrong", check.wrong, kNotNegative);
  a("max_error", check.max_error, kNotNegative);
  a("mean_error", check.mean_error, kNotNegative);
  a("smallest_visible", check.smallest_visible, kNotNegative);
  a("first_wrong", check.first_wrong);
}

template <class A, Is<ProofSummary> T>
void describe(A& a, T& proof) {
  a.required("right", proof.right);
  a("checks", proof.checks);
  a("max_error", proof.max_error, kNotNegative);
  a("mean_error", proof.mean_error, kNotNegative);
  a("method", proof.method);
  a("smallest_visible", proof.smallest_visible, kNotNegative);
  a("launches", proof.launches, kNotNegative);
  a("bitwise_repeatable", proof.bitwise_repeatable);
}

template <class A, Is<RaceSummary> T>
void describe(A& a, T& race) {
  a("rounds", race.rounds, kNotNegative);
  a("clean_rounds", race.clean_rounds, kNotNegative);
  a("median_us", race.median_us, kNotNegative);
  a("dropped_after", race.dropped_after, kNotNegative);
  a("reason", race.reason);
}

template <class A, Is<KernelOutcome> T>
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
  a("prepare_seconds", outcome.prepare_seconds, kNotNegative);
  a("build_seconds", outcome.build_seconds, kNotNegative);
  a.required("ending", outcome.ending);
  a("proof", outcome.proof);
  a("findings", outcome.findings);
  a("race", outcome.race);
}

// --- samples -----------------------------------------------------------------------------------

// `spoiled` lists the rounds that are not clean: most are, and a list of ones helps nobody.
Json write_value(const KernelSamples& samples, RecordTag) {
  Json spoiled = Json::array();
  for (std::size_t i = 0; i < samples.clean.size(); ++i) {
    if (samples.clean[i] == 0) spoiled.push_back(i);
  }
  return {{"id", samples.id},
          {"launches", samples.launches},
          {"burst_ns", samples.burst_ns},
          {"spoiled", std::move(spoiled)}};
}

Status read_value(const JsonField& field, KernelSamples& samples) {
  std::vector<std::int64_t> spoiled;
  RecordReader reader(field);
  reader.required("id", samples.id);
  reader.required("launches", samples.launches, kPositive);
  reader.required("burst_ns", samples.burst_ns, kNotNegative);
  reader.required("spoiled", spoiled, kNotNegative);
  ASSAY_TRY(reader.status());
  samples.clean.assign(samples.burst_ns.size(), 1);
  for (const std::int64_t round : spoiled) {
    if (round >= std::ssize(samples.clean)) {
      return fail(field.error(ErrorCode::invalid_input,
                              fmt::format("spoiled names round {} of {}; rounds count from 0",
                                          round, samples.clean.size())));
    }
    samples.clean[static_cast<std::size_t>(round)] = 0;
  }
  return {};
}

template <class A, Is<ProcessSamples> T>
void describe(A& a, T& samples) {
  a("seed_commitment", samples.seed_commitment);
  a("seed", samples.seed);
  a("placements", samples.placements, kNotNegative);
  a.required("placement", samples.placement, kNotNegative);
  a("order", samples.order, kNotNegative);
  a.required("kernels", samples.kernels);
}

namespace {

Status check_process(const JsonField& field, const ProcessSamples& samples) {
  const auto bad = [&](std::string sentence) {
    return fail(field.error(ErrorCode::invalid_input, sentence));
  };
  std::set<std::string_view> ids;
  for (const KernelSamples& kernel : samples.kernels) {
    if (!ids.insert(kernel.id).second) {
      return bad(fmt::format("kernel {} is there twice", sanitize(kernel.id, 80)));
    }
    if (kernel.burst_ns.size() != samples.rounds()) {
      return bad(
          fmt::format("kernel {} has {} bursts, placement has {} rounds; both are one "
                      "entry per round",
                      sanitize(kernel.id, 80), kernel.burst_ns.size(), samples.rounds()));
    }
  }
  for (const int placement : samples.placement) {
    if (samples.placements > 0 && placement >= samples.placements) {
      return bad(
          fmt::format("placement {} of {}; they count from 0", placement, samples.placements));
    }
  }
  if (!samples.order.empty() && samples.order.size() != samples.rounds()) {
    return bad(
        fmt::format("order has {} entries for {} rounds", samples.order.size(), samples.rounds()));
  }
  for (const std::vector<int>& order : samples.order) {
    for (const int index : order) {
      if (index >= std::ssize(samples.kernels)) {
        return bad(fmt::format("order names kernel {} of {}; they count from 0", index,
                               samples.kernels.size()));
      }
    }
  }
  return {};
}

}  // namespace

Status read_value(const JsonField& field, ProcessSamples& samples) {
  RecordReader reader(field);
  describe(reader, samples);
  ASSAY_TRY(reader.status());
  return check_process(field, samples);
}

// --- conclusions -------------------------------------------------------------------------------

// An interval that reaches to infinity is written as null: JSON has no infinity.
Json write_value(const stats::Verdict& verdict, RecordTag) {
  const auto finite = [](double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
  };
  return {{"word", std::string(stats::to_string(verdict.word))},
          {"ratio", finite(verdict.ratio)},
          {"low", finite(verdict.low)},
          {"high", finite(verdict.high)},
          {"margin", finite(verdict.margin)},
          {"smallest_detectable", finite(verdict.smallest_detectable)},
          {"processes", verdict.processes},
          {"reason", verdict.reason}};
}

Status read_value(const JsonField& field, stats::Verdict& verdict) {
  ASSAY_TRY(const JsonField word_field, field.at("word"));
  ASSAY_TRY(const std::string text, word_field.as_string());
  const Result<stats::Word> word = stats::parse_word(text);
  if (!word) return fail(in_field(word_field, word.error()));
  verdict.word = *word;
  verdict.high = kInfinity;
  verdict.smallest_detectable = kInfinity;
  RecordReader reader(field);
  reader("ratio", verdict.ratio, kNotNegative);
  reader("low", verdict.low, kNotNegative);
  reader("high", verdict.high, kNotNegative);
  reader("margin", verdict.margin, kNotNegative);
  reader("smallest_detectable", verdict.smallest_detectable, kNotNegative);
  reader("processes", verdict.processes, kNotNegative);
  reader("reason", verdict.reason);
  ASSAY_TRY(reader.status());
  if (verdict.low > verdict.high) {
    return fail(field.error(ErrorCode::invalid_input,
                            fmt::format("low {} lies above high {}", verdict.low, verdict.high)));
  }
  return {};
}

Json write_value(const PairVerdict& pair, RecordTag) {
  Json json = write_value(pair.verdict, RecordTag{});
  json["candidate"] = pair.candidate;
  json["other"] = pair.other;
  return json;
}

Status read_value(const JsonField& field, PairVerdict& pair) {
  RecordReader reader(field);
  reader.required("candidate", pair.candidate);
  reader.required("other", pair.other);
  ASSAY_TRY(reader.status());
  return read_value(field, pair.verdict);
}

template <class A, Is<Conclusion::Time> T>
void describe(A& a, T& time) {
  a.required("id", time.id);
  a.required("median_us", time.median_us, kNotNegative);
}

template <class A, Is<Conclusion> T>
void describe(A& a, T& conclusion) {
  a("against_leader", conclusion.against_leader);
  a("against_stock", conclusion.against_stock);
  a("winner", conclusion.winner);
  a("tied", conclusion.tied);
  a("unclear", conclusion.unclear);
  a("ahead", conclusion.ahead);
  a("headline", conclusion.headline);
  a("times", conclusion.times);
  a("samples_hash", conclusion.samples_hash);
}

template <class A, Is<Confirmation> T>
void describe(A& a, T& confirmation) {
  a.required("finalists", confirmation.finalists);
  a.required("leader", confirmation.leader);
  a.required("candidate", confirmation.candidate);
  a("baseline", confirmation.baseline);
  a("incumbent", confirmation.incumbent);
  a("rounds", confirmation.rounds, kNotNegative);
  a("wanted_rounds", confirmation.wanted_rounds, kNotNegative);
  a.required("processes", confirmation.processes);
  a.required("conclusion", confirmation.conclusion);
}

// --- problems and the run ----------------------------------------------------------------------

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

template <class A, Is<SignFlip> T>
void describe(A& a, T& flip) {
  a.required("spacing", flip.spacing);
  a.required("ratio", flip.ratio, kNotNegative);
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
  a("flips", problem.flips);
  a("no_winner", problem.no_winner);
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
    for (const std::string& id : confirmation.finalists) check(id, "finalists");
    check(confirmation.leader, "leader");
    check(confirmation.candidate, "candidate");
    check(confirmation.baseline, "baseline");
    check(confirmation.incumbent, "incumbent");
    for (const ProcessSamples& process : confirmation.processes) {
      for (const KernelSamples& kernel : process.kernels) check(kernel.id, "processes");
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

}  // namespace

Status read_value(const JsonField& field, ProblemRecord& problem) {
  RecordReader reader(field);
  describe(reader, problem);
  ASSAY_TRY(reader.status());
  if (!matches_name_rule(problem.name)) {
    return fail(field.error(ErrorCode::invalid_input,
                            fmt::format("name '{}' is not made of A-Z a-z 0-9 _ . - alone",
                                        sanitize(problem.name, 80))));
  }
  return check_ids(field, problem);
}

template <class A, Is<RunOptions> T>
void describe(A& a, T& options) {
  a("margin", options.margin, Range{1e-9, 10});
  a("confidence", options.confidence, kConfidence);
  a("processes", options.processes, kNotNegative);
  a("min_processes", options.min_processes, kNotNegative);
  a("placements", options.placements, kNotNegative);
  a("budget_seconds", options.budget_seconds, kNotNegative);
  a("exhaustive", options.exhaustive);
  a("threads", options.threads, kNotNegative);
  a("suite", options.suite);
  a("filter", options.filter);
  a("providers", options.providers);
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
}

Status read_value(const JsonField& field, TrustGrade& grade) {
  ASSAY_TRY(const std::string text, field.as_string());
  const Result<TrustGrade> parsed = parse_trust_grade(text);
  if (!parsed) return fail(in_field(field, parsed.error()));
  grade = *parsed;
  return {};
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
  a("trust", record.trust);
  a("trust_reason", record.trust_reason);
  a("findings", record.findings);
  a.required("problems", record.problems);
  a("totals", record.totals);
  a("interrupted", record.interrupted);
}

// --- the public door ---------------------------------------------------------------------------

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
      field.error(newer ? ErrorCode::unsupported : ErrorCode::invalid_input,
                  fmt::format("'{}' is not read here; {} is{}", sanitize(schema, 80), kRecordSchema,
                              newer ? ": a newer assay wrote this file" : "")));
}

}  // namespace

Json to_json(const Environment& environment) { return archive::write_any(environment); }
Json to_json(const KernelOutcome& outcome) { return archive::write_any(outcome); }
Json to_json(const ProcessSamples& samples) { return archive::write_any(samples); }
Json to_json(const Confirmation& confirmation) { return archive::write_any(confirmation); }
Json to_json(const ProblemRecord& problem) { return archive::write_any(problem); }
Json to_json(const stats::Verdict& verdict) { return archive::write_any(verdict); }
Json to_json(const RunRecord& record) {
  Json json = archive::write_any(record);
  json["schema"] = std::string(kRecordSchema);
  return json;
}

Result<Environment> read_environment(const JsonField& field) {
  return read_one<Environment>(field);
}
Result<KernelOutcome> read_kernel_outcome(const JsonField& field) {
  return read_one<KernelOutcome>(field);
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
Result<stats::Verdict> read_verdict(const JsonField& field) {
  return read_one<stats::Verdict>(field);
}

Result<RunRecord> read_record(const JsonDocument& document) {
  const JsonField root(document);
  ASSAY_TRY(root.expect_object());
  ASSAY_TRY(check_schema(root));
  ASSAY_TRY(RunRecord record, read_one<RunRecord>(root));
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
