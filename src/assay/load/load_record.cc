#include "assay/load/load_record.h"

#include "assay/base/version.h"
#include "assay/record/environment_json.h"
#include "assay/stats/interval.h"

namespace assay::load {
namespace {

// "ttft_ms.median" and every other figure of a run.
std::vector<std::string> figures_of(const Metrics& metrics) {
  std::vector<std::string> names;
  for (const auto& [key, summary] : metrics.distributions)
    for (const char* statistic : {"mean", "median", "p90", "p95", "p99"})
      names.push_back(fmt::format("{}.{}", key, statistic));
  for (const auto& [key, value] : metrics.values) names.push_back(key);
  return names;
}

// The mean of every number that all have, the sum of what is counted; of lists and texts the first.
Json merged(const std::vector<Json>& all, bool sums) {
  const Json& first = all.front();
  if (first.is_object()) {
    Json out = Json::object();
    for (const auto& [key, value] : first.items()) {
      std::vector<Json> parts;
      for (const Json& one : all)
        if (one.is_object() && one.contains(key)) parts.push_back(one[key]);
      if (parts.size() == all.size()) out[key] = merged(parts, sums || key == "n");
    }
    return out;
  }
  if (!first.is_number()) return first;
  double sum = 0;
  for (const Json& one : all) sum += one.is_number() ? one.get<double>() : 0;
  if (sums && first.is_number_integer()) return static_cast<std::int64_t>(sum);
  return sums ? sum : sum / static_cast<double>(all.size());
}

}  // namespace

std::vector<RunsInterval> runs_intervals(std::span<const Judged> runs) {
  std::vector<RunsInterval> intervals;
  if (runs.empty()) return intervals;
  for (const std::string& figure : figures_of(runs.front().metrics)) {
    std::vector<double> values;
    for (const Judged& run : runs)
      if (const auto value = run.metrics.find(figure)) values.push_back(*value);
    if (values.size() != runs.size()) continue;
    const auto interval = stats::student_interval(values, kRunsConfidence, kFewestRunsOfInterval);
    if (interval) intervals.push_back({figure, interval->centre, interval->low, interval->high});
  }
  return intervals;
}

Json record_json(const LoadRecord& record) {
  std::vector<Json> runs;
  for (const Judged& run : record.runs) runs.push_back(judged_json(run));
  Json json = runs.front();
  if (runs.size() > 1) {
    const auto part = [&](const char* key) {
      std::vector<Json> parts;
      for (const Json& run : runs) parts.push_back(run[key]);
      return parts;
    };
    json["metrics"] = merged(part("metrics"), false);
    for (const char* key : {"requests", "tokens", "duration_s"})
      json[key] = merged(part(key), true);
    json["runs"] = runs;
    Json intervals = Json::object();
    for (const RunsInterval& interval : runs_intervals(record.runs))
      intervals[interval.figure] = {
          {"mean", interval.mean}, {"low", interval.low}, {"high", interval.high}};
    json["intervals"] = {{"confidence", kRunsConfidence}, {"of", intervals}};
    bool limited = false, as_asked = true;
    for (const Judged& run : record.runs) {
      limited = limited || run.client.limited;
      as_asked = as_asked && run.delivered.as_asked;
    }
    json["client"]["limited"] = limited;
    json["delivered"]["as_asked"] = as_asked;
  }
  json["schema"] = kLoadSchema;
  json["created"] = record.created;
  json["assay"] = build_info().version;
  json["plan"] = plan_json(record.plan);
  json["plan"]["dataset"] = record.dataset;
  json["server"]["model"] = record.plan.shape.model;
  json["environment"] = environment_json(record.environment);
  json["samples"] = record.samples;
  if (!record.metadata.empty()) json["metadata"] = record.metadata;
  return json;
}

}  // namespace assay::load
