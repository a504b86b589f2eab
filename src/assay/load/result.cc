#include "assay/load/result.h"

#include <iterator>

#include <fmt/compile.h>

#include "assay/base/clock.h"

namespace assay::load {
namespace {

Json summary_json(const Summary& summary) {
  Json json = {{"n", summary.n},     {"mean", summary.mean}, {"median", summary.median},
               {"std", summary.std}, {"min", summary.min},   {"max", summary.max},
               {"p90", summary.p90}, {"p95", summary.p95},   {"p99", summary.p99}};
  for (const auto& [name, value] : summary.more) json[name] = value;
  return json;
}

Json optional_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json optional_json(const std::optional<Summary>& summary) {
  return summary ? summary_json(*summary) : Json(nullptr);
}

Json client_json(const ClientHealth& client) {
  return {{"limited", client.limited},
          {"reasons", client.reasons},
          {"sends", client.sends},
          {"late_sends", client.late_sends},
          {"reanchored", client.reanchored},
          {"lateness_ms", optional_json(client.lateness_ms)},
          {"loop_lag_ms", optional_json(client.loop_lag_ms)},
          {"cpu_s", client.cpu_s},
          {"wall_s", client.wall_s},
          {"steal_s", client.steal_s},
          {"governor", client.governor}};
}

Json delivered_json(const Delivered& delivered) {
  return {{"as_asked", delivered.as_asked},
          {"reasons", delivered.reasons},
          {"rate", optional_json(delivered.rate)},
          {"rate_asked", optional_json(delivered.rate_asked)},
          {"gaps_distance", optional_json(delivered.gaps_distance)},
          {"gaps_probability", optional_json(delivered.gaps_probability)},
          {"concurrency", optional_json(delivered.concurrency)},
          {"concurrency_asked", delivered.concurrency_asked}};
}

}  // namespace

Judged judge_run(const LoadPlan& plan, const Run& run, std::span<const Objective> objectives,
                 const Percentiles& percentiles) {
  Judged judged;
  judged.metrics = measure(run.traces, objectives, percentiles);
  judged.delivered = judge_delivery(
      plan, run.traces, static_cast<double>(run.begin_ns) / kNsPerSecond, run.shifted_s);
  judged.client = run.health;
  judge_health(judged.client);
  judged.interrupted = run.interrupted;
  judged.warmups = run.warmups;
  judged.failed_warmups = run.failed_warmups;
  judged.fingerprint = run.fingerprint;
  judged.server = run.server;
  return judged;
}

Json judged_json(const Judged& judged) {
  const Metrics& metrics = judged.metrics;
  Json by_status = Json::object();
  for (const auto& [status, count] : metrics.by_status)
    by_status[status == 0 ? std::string("none") : std::to_string(status)] = count;
  Json figures = Json::object();
  for (const auto& [key, summary] : metrics.distributions) figures[key] = summary_json(summary);
  for (const auto& [key, value] : metrics.values) figures[key] = value;
  return {{"interrupted", judged.interrupted},
          {"duration_s", metrics.duration_s},
          {"requests",
           {{"successful", metrics.successful},
            {"incomplete", metrics.incomplete},
            {"errored", metrics.errored},
            {"cancelled", metrics.cancelled},
            {"retried", metrics.retried},
            {"by_status", by_status},
            {"warmups", judged.warmups},
            {"failed_warmups", judged.failed_warmups}}},
          {"metrics", figures},
          {"tokens",
           {{"source", metrics.token_source},
            {"in", metrics.input_tokens},
            {"out", metrics.output_tokens},
            {"mismatch", metrics.mismatched},
            {"fewer_than_chunks", metrics.unlike_chunks}}},
          {"delivered", delivered_json(judged.delivered)},
          {"client", client_json(judged.client)},
          {"server", {{"software", judged.server}, {"system_fingerprint", judged.fingerprint}}}};
}

// By hand, in the order of canonical JSON: of a run of a million requests this is most of what is
// done behind it.
std::string trace_line(const Trace& trace, std::int64_t begin_ns) {
  std::string line;
  line.reserve(512 + 24 * trace.events.size());
  const auto out = std::back_inserter(line);
  const auto put_time = [&](std::string_view key, std::int64_t at_ns) {
    if (at_ns == 0)
      fmt::format_to(out, FMT_COMPILE("\"{}\":null,"), key);
    else
      fmt::format_to(out, FMT_COMPILE("\"{}\":{},"), key, at_ns - begin_ns);
  };
  fmt::format_to(
      out, FMT_COMPILE("{{\"asked_input\":{},\"asked_output\":{},\"chunks\":{},\"connect_ns\":{},"),
      trace.asked_input, trace.asked_output, trace.chunks, trace.connect_ns);
  put_time("end_ns", trace.end_ns);
  fmt::format_to(out, FMT_COMPILE("\"ending\":\"{}\","), to_string(trace.ending));
  if (!trace.error.empty())
    fmt::format_to(out, FMT_COMPILE("\"error\":{},"), canonical(trace.error));
  line += "\"events\":[";
  for (const StreamEvent& event : trace.events) {
    if (line.back() != '[') line += ',';
    fmt::format_to(out, FMT_COMPILE("[{},{},{}]"), event.at_ns - begin_ns, event.choice,
                   static_cast<int>(event.kind));
  }
  line += "],";
  put_time("first_byte_ns", trace.first_byte_ns);
  put_time("handled_ns", trace.handled_ns);
  put_time("intended_ns", trace.intended_ns);
  fmt::format_to(out,
                 FMT_COMPILE("\"most_output\":{},\"number\":{},\"queued\":{},\"request_id\":{},"),
                 trace.most_output, trace.number, trace.queued, canonical(trace.request_id));
  if (trace.retries > 0) fmt::format_to(out, FMT_COMPILE("\"retries\":{},"), trace.retries);
  put_time("sent_ns", trace.sent_ns);
  fmt::format_to(out, FMT_COMPILE("\"status\":{},"), trace.status);
  if (trace.tokenized) fmt::format_to(out, FMT_COMPILE("\"tokenized\":{},"), *trace.tokenized);
  fmt::format_to(out, FMT_COMPILE("\"turn\":{}"), trace.turn);
  if (trace.usage)
    fmt::format_to(
        out,
        FMT_COMPILE(
            ",\"usage\":{{\"cached\":{},\"completion\":{},\"prompt\":{},\"reasoning\":{}}}"),
        trace.usage->cached, trace.usage->completion, trace.usage->prompt, trace.usage->reasoning);
  line += '}';
  return line;
}

namespace {

Result<std::int64_t> read_time(const JsonField& line, std::string_view key) {
  ASSAY_TRY(const JsonField field, line.at(key));
  if (field.is_null()) return 0;
  ASSAY_TRY(const std::int64_t at, field.as_int64(-kKeptBegin / 2, kKeptBegin / 2));
  return kKeptBegin + at;
}

Result<std::int64_t> read_count(const JsonField& line, std::string_view key) {
  ASSAY_TRY(const JsonField field, line.at(key));
  return field.as_int64();
}

Result<StreamEvent> read_event(const JsonField& item) {
  ASSAY_TRY(const std::vector<JsonField> parts, item.items());
  if (parts.size() != 3)
    return tl::unexpected(item.error(ErrorCode::invalid_input, "an event has three numbers"));
  StreamEvent event;
  ASSAY_TRY(const std::int64_t at, parts[0].as_int64(-kKeptBegin / 2, kKeptBegin / 2));
  ASSAY_TRY(const std::int64_t choice, parts[1].as_int64(0, 1 << 14));
  ASSAY_TRY(const std::int64_t kind, parts[2].as_int64(0, 2));
  event.at_ns = kKeptBegin + at;
  event.choice = static_cast<std::int16_t>(choice);
  event.kind = static_cast<EventKind>(kind);
  return event;
}

}  // namespace

Result<Trace> read_trace(const JsonField& line) {
  Trace trace;
  ASSAY_TRY(trace.number, read_count(line, "number"));
  ASSAY_TRY(const JsonField id, line.at("request_id"));
  ASSAY_TRY(trace.request_id, id.as_string());
  ASSAY_TRY(trace.intended_ns, read_time(line, "intended_ns"));
  ASSAY_TRY(trace.handled_ns, read_time(line, "handled_ns"));
  ASSAY_TRY(trace.sent_ns, read_time(line, "sent_ns"));
  ASSAY_TRY(trace.first_byte_ns, read_time(line, "first_byte_ns"));
  ASSAY_TRY(trace.end_ns, read_time(line, "end_ns"));
  ASSAY_TRY(trace.connect_ns, read_count(line, "connect_ns"));
  ASSAY_TRY(trace.chunks, read_count(line, "chunks"));
  ASSAY_TRY(trace.asked_input, read_count(line, "asked_input"));
  ASSAY_TRY(trace.asked_output, read_count(line, "asked_output"));
  if (line.find("most_output")) {  // Earlier runs have none.
    ASSAY_TRY(trace.most_output, read_count(line, "most_output"));
  }
  ASSAY_TRY(const std::int64_t status, read_count(line, "status"));
  trace.status = static_cast<int>(status);
  ASSAY_TRY(const std::int64_t turn, read_count(line, "turn"));
  trace.turn = static_cast<int>(turn);
  ASSAY_TRY(const JsonField queued, line.at("queued"));
  ASSAY_TRY(trace.queued, queued.as_bool());
  if (const auto retries = line.find("retries")) {
    ASSAY_TRY(const std::int64_t times, retries->as_int64(0, 1 << 20));
    trace.retries = static_cast<int>(times);
  }
  ASSAY_TRY(const JsonField ending, line.at("ending"));
  ASSAY_TRY(const std::string word, ending.as_string());
  const auto known = parse_ending(word);
  if (!known)
    return tl::unexpected(ending.error(ErrorCode::invalid_input, "it is no ending of a request"));
  trace.ending = *known;
  if (const auto error = line.find("error")) {
    ASSAY_TRY(trace.error, error->as_string());
  }
  ASSAY_TRY(const JsonField events, line.at("events"));
  ASSAY_TRY(const std::vector<JsonField> items, events.items());
  for (const JsonField& item : items) {
    ASSAY_TRY(const StreamEvent event, read_event(item));
    trace.events.push_back(event);
  }
  if (line.find("tokenized")) {
    ASSAY_TRY(trace.tokenized, read_count(line, "tokenized"));
  }
  if (const auto usage = line.find("usage")) {
    trace.usage.emplace();
    ASSAY_TRY(trace.usage->prompt, read_count(*usage, "prompt"));
    ASSAY_TRY(trace.usage->completion, read_count(*usage, "completion"));
    ASSAY_TRY(trace.usage->reasoning, read_count(*usage, "reasoning"));
    ASSAY_TRY(trace.usage->cached, read_count(*usage, "cached"));
  }
  return trace;
}

}  // namespace assay::load
