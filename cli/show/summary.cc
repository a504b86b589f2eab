#include "cli/show/summary.h"

#include <nlohmann/json.hpp>

#include "assay/record/problem_row.h"

namespace assay::cli {
namespace {

std::string label_of(const ProblemRecord& problem, const std::string& id) {
  const KernelOutcome* kernel = problem.find(id);
  return kernel == nullptr ? id : kernel->label();
}

Json labels_of(const ProblemRecord& problem, const std::vector<std::string>& ids) {
  Json labels = Json::array();
  for (const std::string& id : ids) labels.push_back(label_of(problem, id));
  return labels;
}

Json pair_json(const ProblemRecord& problem, const PairVerdict& pair) {
  Json json = {{"candidate", label_of(problem, pair.candidate)},
               {"other", label_of(problem, pair.other)},
               {"verdict", to_json(pair.verdict)}};
  // By what the candidate is right, unless it is element by element.
  if (const KernelOutcome* kernel = problem.find(pair.candidate); kernel && kernel->is_normwise())
    json["error"] = to_string(kernel->proof->error_bound);
  return json;
}

Json rates(const ProblemRecord& problem, double us) {
  if (us <= 0) return Json::object();
  return {{"runtime_ms", us * 1e-3},
          {"tflops", problem.flops / us * 1e-6},
          {"gbps", problem.bytes / us * 1e-3}};
}

Json winner_json(const ProblemRecord& problem) {
  const KernelOutcome* winner = problem.winner();
  if (winner == nullptr) return nullptr;
  Json json = rates(problem, problem.decisive()->conclusion.median_us(winner->id));
  json["provider"] = winner->provider;
  json["kernel"] = winner->name;
  json["id"] = winner->id;
  json["role"] = std::string(to_string(winner->role));
  json["ceiling"] = problem.ceiling;
  json["ceiling_share"] = problem.ceiling_share;
  if (winner->proof) json["max_error"] = winner->proof->max_error;
  if (winner->is_normwise()) json["error"] = to_string(winner->proof->error_bound);
  return json;
}

Json problem_json(const ProblemRecord& problem) {
  Json json = {{"name", problem.name},
               {"key", problem.key},
               {"role", problem.role},
               {"problem", problem.problem},
               {"condition", problem.condition.to_string()},
               {"class", problem.race_class.to_string()},
               {"flops", problem.flops},
               {"bytes", problem.bytes},
               {"winner", winner_json(problem)},
               {"tied", Json::array()},
               {"unclear", Json::array()},
               {"headline", nullptr},
               {"against_leader", Json::array()},
               {"no_winner", problem.no_winner},
               {"kernels", Json::array()},
               {"refusals", Json::object()}};
  if (const Confirmation* confirmation = problem.decisive()) {
    const Conclusion& conclusion = confirmation->conclusion;
    json["tied"] = labels_of(problem, conclusion.tied);
    json["unclear"] = labels_of(problem, conclusion.unclear);
    if (conclusion.headline) {
      json["headline"] = pair_json(problem, *conclusion.headline);
      json["headline"]["of"] = to_string(row_of(problem).of);
    }
    for (const PairVerdict& pair : conclusion.against_leader)
      json["against_leader"].push_back(pair_json(problem, pair));
  }
  for (const KernelOutcome& kernel : problem.kernels)
    json["kernels"].push_back(kernel_summary(problem, kernel));
  if (problem.ranking) {
    const RankingRecord& ranking = *problem.ranking;
    json["ranking"] = {{"ranker", ranking.ranker},
                       {"build", ranking.build},
                       {"costly", ranking.costly},
                       {"not_built", ranking.not_built},
                       {"winners_ranks", Json::object()}};
    if (const KernelOutcome* winner = problem.winner())
      json["ranking"]["winners_ranks"] = winner->ranks;
  }
  for (const auto& [reason, refusal] : problem.refusals)
    json["refusals"][reason] = {{"count", refusal.count}, {"example", refusal.example}};
  return json;
}

Json findings_json(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings)
    list.push_back({{"code", finding.code}, {"sentence", finding.sentence}});
  return list;
}

Json model_json(const RunRecord& record) {
  Json list = Json::array();
  for (const ModelTime& time : model_times(record)) list.push_back(to_json(time));
  return list;
}

}  // namespace

Json kernel_summary(const ProblemRecord& problem, const KernelOutcome& kernel) {
  double us = kernel.race ? kernel.race->median_us : 0;
  bool confirmed = false;
  if (const Confirmation* confirmation = problem.decisive()) {
    if (const double sure = confirmation->conclusion.median_us(kernel.id); sure > 0) {
      us = sure;
      confirmed = true;
    }
  }
  Json json = rates(problem, us);
  json["provider"] = kernel.provider;
  json["kernel"] = kernel.name;
  json["id"] = kernel.id;
  json["role"] = std::string(to_string(kernel.role));
  json["ending"] = std::string(ending_name(kernel.ending));
  json["sentence"] = ending_sentence(kernel.ending);
  json["confirmed"] = confirmed;
  json["proven"] = kernel.proof && kernel.proof->right;
  if (kernel.proof) json["max_error"] = kernel.proof->max_error;
  if (kernel.is_normwise()) json["error"] = to_string(kernel.proof->error_bound);
  json["findings"] = findings_json(kernel.findings);
  return json;
}

Json summary_json(const RunRecord& record, const SummaryFiles& files, int exit_code) {
  Json problems = Json::array();
  for (const ProblemRecord& problem : record.problems) problems.push_back(problem_json(problem));
  const DeviceStamp& device = record.environment.device;
  return {{"schema", "assay.summary/1"},
          {"id", record.id},
          {"kind", record.kind},
          {"created", record.created},
          {"suite", record.options.suite},
          {"assay_version", record.assay_version},
          {"margin", record.options.margin},
          {"confidence", record.options.confidence},
          {"processes", record.options.processes},
          {"threads", record.options.threads},
          {"device", {{"kind", device.kind}, {"name", device.name}, {"id", device.id}}},
          {"trust", std::string(to_string(record.trust))},
          {"trust_reason", record.trust_reason},
          {"findings", findings_json(record.findings)},
          {"warnings", record.environment.warnings},
          {"model", model_json(record)},
          {"totals",
           {{"timed_seconds", record.totals.timed_seconds},
            {"wall_seconds", record.totals.wall_seconds},
            {"trials", record.totals.trials},
            {"proven", record.totals.proven},
            {"wrong", record.totals.wrong},
            {"crashed", record.totals.crashed},
            {"refused", record.totals.refused}}},
          {"record", files.record},
          {"results", files.results},
          {"problems", std::move(problems)},
          {"exit_code", exit_code}};
}

}  // namespace assay::cli
