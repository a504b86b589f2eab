// A record's problems as one provider's results.

#include <algorithm>
#include <set>

#include "assay/record/provider_results.h"

namespace assay {
namespace {

double race_us(const KernelOutcome& kernel) { return kernel.race ? kernel.race->median_us : 0; }

struct Best {
  const KernelOutcome* kernel = nullptr;
  double us = 0;
};

// Confirmed times and race times are of different moments: a confirmed kernel comes first.
Best best_of(const ProblemRecord& problem, std::string_view provider) {
  Best confirmed, raced;
  for (const KernelOutcome& kernel : problem.kernels) {
    if (kernel.provider != provider || !is_timed(kernel.ending)) continue;
    const Confirmation* confirmation = problem.decisive();
    const double sure = confirmation ? confirmation->conclusion.median_us(kernel.id) : 0;
    if (sure > 0 && (confirmed.kernel == nullptr || sure < confirmed.us)) {
      confirmed = {&kernel, sure};
    }
    const double rough = race_us(kernel);
    if (rough > 0 && (raced.kernel == nullptr || rough < raced.us)) raced = {&kernel, rough};
  }
  return confirmed.kernel != nullptr ? confirmed : raced;
}

std::string text_of(const Json& problem, const char* key) {
  const auto found = problem.is_object() ? problem.find(key) : problem.end();
  return problem.is_object() && found != problem.end() && found->is_string()
             ? found->get<std::string>()
             : std::string();
}

// The words on this kernel: as the leader's challenger, or the headline's where it is that one.
std::optional<stats::Verdict> verdict_of(const ProblemRecord& problem, std::string_view id) {
  const Confirmation* confirmation = problem.decisive();
  if (confirmation == nullptr) return std::nullopt;
  const Conclusion& conclusion = confirmation->conclusion;
  if (conclusion.headline && conclusion.headline->candidate == id) {
    return conclusion.headline->verdict;
  }
  for (const PairVerdict& pair : conclusion.against_leader) {
    if (pair.candidate == id) return pair.verdict;
  }
  return std::nullopt;
}

ProviderResult result_of(const ProblemRecord& problem, const Best& best,
                         const std::string& record_path) {
  ProviderResult out;
  out.name = problem.name;
  out.kernel = best.kernel->name;
  out.runtime_ms = best.us * 1e-3;
  out.tflops = problem.flops / (best.us * 1e-6) * 1e-12;
  out.gflops = out.tflops * 1e3;
  if (problem.bytes > 0) out.gbps = problem.bytes / (best.us * 1e-6) * 1e-9;
  const auto size = [&](const char* key) -> std::optional<std::int64_t> {
    const std::int64_t value = problem.dimension(key, 0);
    return value > 0 ? std::optional(value) : std::nullopt;
  };
  out.m = size("m");
  out.n = size("n");
  out.k = size("k");
  out.batch = size("batch");
  for (const char* operand : {"a", "b", "out", "accumulate"}) {
    const std::string dtype = text_of(problem.problem, operand);
    if (!dtype.empty()) out.dtypes[operand] = dtype;
  }
  for (const auto& [name, scalar] : {std::pair("alpha", &out.alpha), std::pair("beta", &out.beta)})
    if (const auto found =
            problem.problem.is_object() ? problem.problem.find(name) : problem.problem.end();
        problem.problem.is_object() && found != problem.problem.end() && found->is_number())
      *scalar = found->get<double>();
  out.layout = text_of(problem.problem, "layout");
  if (problem.problem.is_object() && problem.problem.contains("constant") &&
      problem.problem["constant"].is_array()) {
    out.constant.emplace();
    for (const Json& item : problem.problem["constant"]) {
      if (item.is_string()) out.constant->push_back(item.get<std::string>());
    }
    std::sort(out.constant->begin(), out.constant->end());
  }
  out.condition = problem.condition.to_string();
  out.race_class = problem.race_class.to_string();
  out.key = problem.key;
  out.kernel_id = best.kernel->id;
  out.kernel_hash = best.kernel->artifact_hash;
  out.record = record_path;
  out.verdict = verdict_of(problem, best.kernel->id);
  if (Json design = best.kernel->metadata.member("design"); !design.is_null())
    out.metadata["design"] = std::move(design);
  return out;
}

}  // namespace

void BestOfProviders::add(const ProblemRecord& problem, const std::string& record_path) {
  std::set<std::string> names;
  for (const KernelOutcome& kernel : problem.kernels) {
    if (kernel.role != KernelRole::reference) names.insert(kernel.provider);
  }
  for (const std::string& name : names) {
    ProviderResults& results = results_[name];
    const Best best = best_of(problem, name);
    if (best.kernel != nullptr && problem.flops > 0) {
      results.results.push_back(result_of(problem, best, record_path));
    }
  }
  problems_.push_back(problem.name);
}

std::vector<ProviderResults> BestOfProviders::take(const Environment& environment) {
  std::vector<ProviderResults> all;
  for (auto& [provider, results] : results_) {
    results.provider = provider;
    results.environment = environment;
    std::size_t at = 0;  // Results lie in the problems' order.
    for (const std::string& problem : problems_) {
      if (at < results.results.size() && results.results[at].name == problem)
        ++at;
      else
        results.failed.push_back(problem);
    }
    all.push_back(std::move(results));
  }
  results_.clear();
  problems_.clear();
  return all;
}

}  // namespace assay
