#include "assay/lab/files/history_lines.h"

#include "assay/base/archive_schema.h"

namespace assay::lab {
namespace {

// What the kinds of lines write, as types of their own.
struct StartLine {
  Attempt attempt;
};
struct EndLine {
  Attempt attempt;
};
struct SkipLine {
  Skip skip;
};

// {name, outcome} as [name, outcome].
struct Stage {
  std::pair<std::string, std::string> pair;
};

Json write_value(const Stage& stage, RecordTag) { return {stage.pair.first, stage.pair.second}; }

Status read_value(const JsonField& field, Stage& stage) {
  ASSAY_TRY(const auto items, field.items());
  if (items.size() != 2)
    return fail(field.error(ErrorCode::invalid_input, "a stage is its name and its outcome"));
  ASSAY_TRY(stage.pair.first, items[0].as_string());
  ASSAY_TRY(stage.pair.second, items[1].as_string());
  return {};
}

Json schema_value(SchemaOf<Stage>, SchemaTypes&) {
  return {{"type", "array"}, {"items", {{"type", "string"}}}, {"minItems", 2}, {"maxItems", 2}};
}

struct State {
  AttemptOutcome outcome = AttemptOutcome::interrupted;
};

Json write_value(const State& state, RecordTag) { return to_string(state.outcome); }

Status read_value(const JsonField& field, State& state) {
  ASSAY_TRY(const std::string text, field.as_string());
  const auto outcome = parse_attempt_outcome(text);
  if (!outcome) return fail(field.error(ErrorCode::invalid_input, outcome.error().message));
  state.outcome = *outcome;
  return {};
}

Json schema_value(SchemaOf<State>, SchemaTypes&) {
  return enum_schema<AttemptOutcome>(parse_attempt_outcome);
}

}  // namespace

// Beside their types, so that a description of what holds them finds these.
template <class A, archive::Is<Cost> T>
void describe(A& a, T& cost) {
  a.required("usd", cost.usd);
  a.required("tokens", cost.tokens);
}

template <class A, archive::Is<Primary> T>
void describe(A& a, T& primary) {
  a.required("key", primary.key);
  a.required("value", primary.value);
  a.required("unit", primary.unit);
}

template <class A, archive::Is<Claim> T>
void describe(A& a, T& claim) {
  a.required("word", claim.word);
  a.required("ratio", claim.ratio);
  a.required("low", claim.low);
  a("high", claim.high);
  a.required("pairs", claim.pairs);
}

namespace {

// Absent where no agent said it.
template <class A, class T>
void describe_cost(A& a, T& cost) {
  if constexpr (std::is_const_v<T>) {
    if (cost) a("cost", cost);
  } else {
    a("cost", cost);
  }
}

// Absent where a climb made it, as in histories that say nothing of it.
template <class A, class T>
void describe_by_hand(A& a, T& by_hand) {
  if constexpr (std::is_const_v<T>) {
    if (by_hand) a("by_hand", by_hand);
  } else {
    a("by_hand", by_hand);
  }
}

template <class A, archive::Is<StartLine> T>
void describe(A& a, T& line) {
  auto& attempt = line.attempt;
  a.required("id", attempt.id);
  a.required("seq", attempt.seq);
  a("run_tag", attempt.run_tag);
  a("series", attempt.series);
  a("parent", attempt.parent);
  a("tree", attempt.tree);
  a.required("env", attempt.env);
  a.required("env_only", attempt.env_only);
  a("lane", attempt.lane);
  a("family", attempt.family);
  a("target", attempt.target);
  a("description", attempt.description);
  a("hypothesis", attempt.hypothesis);
  a("started", attempt.started);
  describe_by_hand(a, attempt.by_hand);
}

template <class A, archive::Is<EndLine> T>
void describe(A& a, T& line) {
  auto& attempt = line.attempt;
  a.required("id", attempt.id);
  a("seq", attempt.seq);
  a("run_tag", attempt.run_tag);
  a("reason", attempt.reason);
  a("primary", attempt.primary);
  a("claim", attempt.claim);
  a.required("baseline", attempt.baseline);
  a("record", attempt.record);
  a("ended", attempt.ended);
  describe_cost(a, attempt.cost);
  std::vector<Stage> stages;
  State state;
  if constexpr (std::is_const_v<T>) {
    for (const auto& pair : attempt.stages) stages.push_back({pair});
    state.outcome = attempt.outcome.value_or(AttemptOutcome::interrupted);
  }
  a.required("stages", stages);
  a.required("state", state);
  if constexpr (!std::is_const_v<T>) {
    attempt.stages.clear();
    for (Stage& stage : stages) attempt.stages.push_back(std::move(stage.pair));
    attempt.outcome = state.outcome;
  }
}

template <class A, archive::Is<SkipLine> T>
void describe(A& a, T& line) {
  a("run_tag", line.skip.run_tag);
  a("reason", line.skip.reason);
  a("of", line.skip.of);
  a("at", line.skip.at);
  describe_by_hand(a, line.skip.by_hand);
  describe_cost(a, line.skip.cost);
}

template <class T>
Json written(const T& line, const char* type) {
  Json json = archive::write_any(line);
  json["schema"] = kHistorySchema;
  json["type"] = type;
  return json;
}

template <class T>
Json line_schema(const char* type, SchemaTypes& types) {
  Json schema = archive::object_schema<T>(types);
  schema["properties"]["schema"] = {{"const", kHistorySchema}};
  schema["properties"]["type"] = {{"const", type}};
  for (const char* name : {"schema", "type"}) schema["required"].push_back(name);
  return schema;
}

}  // namespace

Json start_line(const Attempt& attempt) { return written(StartLine{attempt}, "start"); }
Json end_line(const Attempt& attempt) { return written(EndLine{attempt}, "end"); }
Json skip_line(const Skip& skip) { return written(SkipLine{skip}, "skip"); }

Result<std::string> line_type(const JsonField& line) {
  ASSAY_TRY(const JsonField schema, line.at("schema"));
  ASSAY_TRY(const std::string text, schema.as_string());
  if (text != kHistorySchema)
    return fail(schema.error(ErrorCode::machine, "not a line of this version"));
  ASSAY_TRY(const JsonField type, line.at("type"));
  return type.as_string();
}

Result<Attempt> read_start(const JsonField& line) {
  StartLine read;
  ASSAY_TRY(archive::read_any(line, read));
  return std::move(read.attempt);
}

Status read_end(const JsonField& line, Attempt& attempt) {
  EndLine read{attempt};
  ASSAY_TRY(archive::read_any(line, read));
  attempt = std::move(read.attempt);
  return {};
}

Result<Skip> read_skip(const JsonField& line) {
  SkipLine read;
  ASSAY_TRY(archive::read_any(line, read));
  return std::move(read.skip);
}

Json history_schema() {
  SchemaTypes types;
  Json kinds = Json::array();
  kinds.push_back(line_schema<StartLine>("start", types));
  kinds.push_back(line_schema<EndLine>("end", types));
  kinds.push_back(line_schema<SkipLine>("skip", types));
  // Of later versions.
  kinds.push_back(
      {{"type", "object"},
       {"properties",
        {{"schema", {{"const", kHistorySchema}}},
         {"type", {{"type", "string"}, {"not", {{"enum", {"start", "end", "skip"}}}}}}}},
       {"required", {"schema", "type"}}});
  return with_head("A line of the history of a lab's case (history.jsonl)",
                   {{"anyOf", std::move(kinds)}}, types);
}

}  // namespace assay::lab
