#include "assay/store/entry.h"

#include "assay/base/hash.h"

namespace assay::store {

RunEntry run_entry(const RunRecord& record, const std::string& record_path) {
  RunEntry entry;
  entry.id = record.id;
  entry.kind = record.kind;
  entry.created = record.created;
  entry.suite = record.options.suite;
  entry.assay_version = record.assay_version;
  entry.device = record.environment.device.name;
  entry.device_id = record.environment.device.id;
  entry.trust = std::string(to_string(record.trust));
  entry.record_path = record_path;
  entry.threads = record.options.threads;
  entry.problems = std::ssize(record.problems);
  for (const ProblemRecord& problem : record.problems) entry.kernels += std::ssize(problem.kernels);
  return entry;
}

std::vector<ResultEntry> result_entries(const RunRecord& record) {
  std::vector<ResultEntry> entries;
  for (const ProblemRecord& problem : record.problems) {
    ResultEntry common;
    common.run = record.id;
    common.created = record.created;
    common.device = record.environment.device.name;
    common.problem = problem.name;
    common.key = problem.key;
    common.condition = problem.condition.to_string();
    common.race_class = problem.race_class.to_string();
    const Conclusion* conclusion = problem.conclusion();
    const PairVerdict* headline = problem.headline();
    const KernelOutcome* winner = problem.winner();
    for (const KernelOutcome& kernel : problem.kernels) {
      ResultEntry& entry = entries.emplace_back(common);
      entry.kernel_id = kernel.id;
      entry.provider = kernel.provider;
      entry.kernel = kernel.name;
      entry.role = std::string(to_string(kernel.role));
      entry.artifact_hash = kernel.artifact_hash;
      entry.ending = std::string(ending_name(kernel.ending));
      entry.winner = &kernel == winner;
      if (conclusion != nullptr) entry.us = conclusion->median_us(kernel.id);
      entry.confirmed = entry.us > 0;
      if (!entry.confirmed && kernel.race) entry.us = kernel.race->median_us;
      if (headline == nullptr || headline->candidate != kernel.id) continue;
      entry.word = std::string(stats::to_string(headline->verdict.word));
      entry.other = problem.label(headline->other);
      if (!headline->verdict.has_interval()) continue;
      entry.ratio = headline->verdict.ratio;
      entry.low = headline->verdict.low;
      entry.high = headline->verdict.high;
    }
  }
  return entries;
}

std::string evidence_hash(const RunRecord& record) {
  Sha256 hash;
  hash.update_field(record.id);
  hash.update_field(record.created);
  for (const ProblemRecord& problem : record.problems)
    hash.update_field(canonical(to_json(problem)));
  return hash.hex();
}

}  // namespace assay::store
