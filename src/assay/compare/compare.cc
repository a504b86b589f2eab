#include "assay/compare/compare.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "assay/base/text.h"
#include "assay/compare/match.h"
#include "assay/compare/recompute.h"
#include "assay/record/conclude.h"

namespace assay {
namespace {

// A result, and what a record of ours holds on it.
struct Evidence {
  const RunRecord* record = nullptr;
  const ProblemRecord* problem = nullptr;
  const KernelOutcome* kernel = nullptr;
  std::string why_not;  // A sentence where anything is absent.
};

class Comparer {
 public:
  Comparer(const ResultsFile& baseline, const RecordLookup& lookup, const CompareOptions& options)
      : baseline_(baseline), lookup_(lookup), options_(options) {
    out_.baseline_provider = baseline.results->provider;
    out_.baseline_file = baseline.path;
    out_.margin = options.margin;
  }

  Status start() {
    const std::vector<std::string> keys = display_keys(*baseline_.results);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const ProviderResult& result = baseline_.results->results[i];
      out_.rows.push_back({keys[i], result.name, side_of(*baseline_.results, result), {}});
      ASSAY_TRY(Evidence evidence, find_evidence(baseline_, result));
      baseline_evidence_.push_back(std::move(evidence));
    }
    for (const std::string& name : baseline_.results->failed) {
      out_.notes.push_back(
          fmt::format("{} has no result for {}: it is not compared", baseline_.path, name));
    }
    check_current(baseline_);
    return {};
  }

  Status add(const ResultsFile& file) {
    if (!file.results) {
      out_.missing.push_back(fmt::format("{}: there is no such file", file.path));
      return {};
    }
    const ProviderResults& results = *file.results;
    out_.providers.push_back(results.provider);
    ASSAY_TRY(const auto matches, match_results(*baseline_.results, results));
    std::set<std::size_t> used;
    for (std::size_t i = 0; i < matches.size(); ++i) {
      if (!matches[i]) {
        out_.missing.push_back(why_missing(file, baseline_.results->results[i]));
        continue;
      }
      used.insert(*matches[i]);
      ASSAY_TRY(add_competitor(i, file, results.results[*matches[i]]));
    }
    for (std::size_t j = 0; j < results.results.size(); ++j) {
      if (used.contains(j)) continue;
      out_.notes.push_back(fmt::format("{}:{}: {} is not in {}: it is not compared", file.path,
                                       results.results[j].line, results.results[j].name,
                                       baseline_.path));
    }
    check_current(file);
    return {};
  }

  Result<Comparison> finish() {
    const Requirements& wants = options_.requirements;
    ASSAY_TRY(check_named());
    for (const std::string& provider : wants.require) {
      append(require_faster(out_, provider, wants.proven));
    }
    for (const auto& [provider, fraction] : wants.expect_within) {
      append(expect_within(out_, provider, fraction, wants.proven));
    }
    if (wants.previous) {
      append(no_regression(out_, *wants.previous, wants.proven, out_.missing));
      check_environments(wants.previous->environment, wants.previous->origin,
                         baseline_.results->environment, baseline_.path);
    }
    unique(out_.missing);
    unique(out_.stale);
    unique(out_.disputes);
    unique(out_.notes);
    return std::move(out_);
  }

 private:
  static Side side_of(const ProviderResults& results, const ProviderResult& result) {
    return {results.provider, result.kernel, result.tflops, result.runtime_ms};
  }

  // In the order of their first mention.
  static void unique(std::vector<std::string>& sentences) {
    std::set<std::string> seen;
    std::erase_if(sentences,
                  [&](const std::string& sentence) { return !seen.insert(sentence).second; });
  }

  void append(std::vector<Claim> claims) {
    std::move(claims.begin(), claims.end(), std::back_inserter(out_.claims));
  }

  // A requirement on a provider that was not even given is a mistake of the command line; on one
  // whose file is absent it is covered by `missing`.
  Status check_named() {
    std::vector<std::string> names = options_.requirements.require;
    for (const auto& [provider, fraction] : options_.requirements.expect_within) {
      if (!(fraction > 0 && fraction < 1)) {
        return fail(ErrorCode::invalid_input,
                    "--expect-within {}={:g}: a share between 0 and 100 % is wanted", provider,
                    fraction);
      }
      names.push_back(provider);
    }
    // What is not there may have been that provider's, unless the name is nearly one that is there.
    const bool some_absent = !out_.missing.empty();
    for (const std::string& name : names) {
      const bool known =
          std::find(out_.providers.begin(), out_.providers.end(), name) != out_.providers.end();
      if (known) continue;
      if (some_absent) {
        if (const std::string nearest = did_you_mean(name, out_.providers); !nearest.empty())
          out_.missing.push_back(fmt::format("no file is of provider '{}'; they are of {}{}",
                                             sanitize(name, 80), join(out_.providers, ", "),
                                             nearest));
        continue;
      }
      return fail(
          ErrorCode::invalid_input, "none of the files given is of provider '{}'; they are of {}{}",
          sanitize(name, 80), join(out_.providers, ", "), did_you_mean(name, out_.providers));
    }
    return {};
  }

  static std::string why_missing(const ResultsFile& file, const ProviderResult& wanted) {
    const ProviderResults& results = *file.results;
    const std::string order = in_another_order(wanted, results);
    const std::string swapped = order.empty() ? "" : "; " + order;
    if (const ProviderResult* other = results.find(wanted.name)) {
      const std::string difference = mismatch(wanted, *other);
      if (!difference.empty()) {
        return fmt::format("{}:{}: {} of {} is something else: {}{}", file.path, other->line,
                           wanted.name, results.provider, difference, swapped);
      }
      return fmt::format("{}:{}: {} of {} matches another result better", file.path, other->line,
                         wanted.name, results.provider);
    }
    const bool failed = std::find(results.failed.begin(), results.failed.end(), wanted.name) !=
                        results.failed.end();
    return fmt::format("{}: {} has no result for {}{}{}", file.path, results.provider, wanted.name,
                       failed ? ", and lists it under \"failed\"" : "", failed ? "" : swapped);
  }

  Status add_competitor(std::size_t row, const ResultsFile& file, const ProviderResult& result) {
    const ProviderResult& base = baseline_.results->results[row];
    Competitor competitor;
    competitor.side = side_of(*file.results, result);
    competitor.speedup = base.runtime_ms / result.runtime_ms;
    ASSAY_TRY(const Evidence evidence, find_evidence(file, result));
    judge(competitor, baseline_evidence_[row], evidence);
    check_environments(environment_of(baseline_, baseline_evidence_[row]), baseline_.path,
                       environment_of(file, evidence), file.path);
    if (competitor.proven()) check_numbers(competitor, result, evidence);
    out_.rows[row].competitors.push_back(std::move(competitor));
    return {};
  }

  static std::optional<Environment> environment_of(const ResultsFile& file,
                                                   const Evidence& evidence) {
    if (file.results->environment) return file.results->environment;
    if (evidence.record != nullptr) return evidence.record->environment;
    return std::nullopt;
  }

  void check_environments(const std::optional<Environment>& first, const std::string& first_name,
                          const std::optional<Environment>& second,
                          const std::string& second_name) {
    if (!first || !second) return;  // Files written by hand: unproven, not stale.
    for (const std::string& difference : environment_differences(*first, *second)) {
      out_.stale.push_back(fmt::format("{} and {}: {}", first_name, second_name, difference));
    }
  }

  void check_current(const ResultsFile& file) {
    if (!options_.current) return;
    if (!file.results->environment) {
      out_.notes.push_back(
          fmt::format("{} says nothing of the machine: it cannot be stale, nor "
                      "proven by itself",
                      file.path));
      return;
    }
    for (const std::string& difference :
         environment_differences(*file.results->environment, *options_.current)) {
      out_.stale.push_back(fmt::format("{} and this machine: {}", file.path, difference));
    }
  }

  Result<Evidence> find_evidence(const ResultsFile& file, const ProviderResult& result) {
    Evidence evidence;
    if (result.record.empty()) {
      evidence.why_not = fmt::format("{} holds numbers without a record", file.path);
      return evidence;
    }
    const Result<const RunRecord*> record = lookup_(file.path, result.record);
    if (!record && record.error().code == ErrorCode::not_found) {
      out_.missing.push_back(fmt::format("{}:{}: {}: its record {} is not there", file.path,
                                         result.line, result.name, sanitize(result.record, 200)));
      evidence.why_not = "its record is not there";
      return evidence;
    }
    if (!record)
      return fail(with_context(record.error(),
                               fmt::format("{}:{}: {}: its record '{}'", file.path, result.line,
                                           result.name, sanitize(result.record, 200))));
    evidence.record = *record;
    evidence.problem = problem_of(*evidence.record, result);
    if (evidence.problem == nullptr) {
      evidence.why_not = fmt::format("record {} has no such problem", evidence.record->id);
      return evidence;
    }
    evidence.kernel = kernel_of(*evidence.problem, file.results->provider, result);
    if (evidence.kernel == nullptr) {
      evidence.why_not = fmt::format("record {} does not know kernel {} on this problem",
                                     evidence.record->id, sanitize(result.kernel, 120));
      return evidence;
    }
    if (!result.kernel_hash.empty() && !evidence.kernel->artifact_hash.empty() &&
        result.kernel_hash != evidence.kernel->artifact_hash) {
      out_.stale.push_back(
          fmt::format("{}:{}: kernel {} is not the one in record {}: the hashes "
                      "differ",
                      file.path, result.line, sanitize(result.kernel, 120), evidence.record->id));
    }
    if (evidence.kernel->is_normwise())
      out_.notes.push_back(
          fmt::format("{}: {} is {}: its errors are bounded by norms, as it declares", result.name,
                      sanitize(evidence.kernel->label(), 160), evidence.kernel->proof->word()));
    dispute(*evidence.record, *evidence.problem);
    return evidence;
  }

  static const ProblemRecord* problem_of(const RunRecord& record, const ProviderResult& result) {
    const ProblemRecord* found = nullptr;
    for (const ProblemRecord& problem : record.problems) {
      if (problem.name != result.name) continue;
      if (!result.key.empty() && problem.key != result.key) continue;
      if (!result.condition.empty() && problem.condition.to_string() != result.condition) continue;
      if (!result.race_class.empty() && problem.race_class.to_string() != result.race_class) {
        continue;
      }
      if (found != nullptr) return nullptr;
      found = &problem;
    }
    return found;
  }

  static const KernelOutcome* kernel_of(const ProblemRecord& problem, const std::string& provider,
                                        const ProviderResult& result) {
    if (!result.kernel_id.empty()) {
      const KernelOutcome* kernel = problem.find(result.kernel_id);
      return kernel != nullptr && kernel->provider == provider ? kernel : nullptr;
    }
    const KernelOutcome* found = nullptr;
    for (const KernelOutcome& kernel : problem.kernels) {
      if (kernel.provider != provider || kernel.name != result.kernel) continue;
      if (found != nullptr) return nullptr;
      found = &kernel;
    }
    return found;
  }

  // Each problem of a record is made again once.
  void dispute(const RunRecord& record, const ProblemRecord& problem) {
    if (!recomputed_.insert(&problem).second) return;
    for (const Difference& difference : recompute(problem, record)) {
      out_.disputes.push_back(fmt::format("record {}: {}", record.id, difference.sentence()));
    }
  }

  void judge(Competitor& competitor, const Evidence& base, const Evidence& other) const {
    const auto unproven = [&](std::string why) { competitor.why_unproven = std::move(why); };
    if (!other.why_not.empty()) return unproven(other.why_not);
    if (!base.why_not.empty()) return unproven(base.why_not);
    if (base.problem != other.problem) {
      return unproven(fmt::format("the two were not raced against one another: records {} and {}",
                                  base.record->id, other.record->id));
    }
    const Confirmation* confirmation = base.problem->decisive();
    const auto sampled = [&](const KernelOutcome& kernel) {
      if (confirmation == nullptr || !is_timed(kernel.ending)) return false;
      return std::any_of(
          confirmation->processes.begin(), confirmation->processes.end(),
          [&](const ProcessSamples& process) { return process.find(kernel.id) != nullptr; });
    };
    for (const KernelOutcome* kernel : {base.kernel, other.kernel}) {
      if (!sampled(*kernel)) {
        return unproven(fmt::format("{} was not among the kernels confirmed in record {}",
                                    sanitize(kernel->label(), 160), base.record->id));
      }
    }
    RunOptions judging = base.record->options;
    judging.margin = options_.margin;
    competitor.verdict =
        judge_pair(*base.problem, *confirmation, judging, other.kernel->id, base.kernel->id);
  }

  // The file's own numbers against the record's: a hand that changed one of them shows.
  void check_numbers(const Competitor& competitor, const ProviderResult& result,
                     const Evidence& evidence) {
    const double us = evidence.problem->decisive()->conclusion.median_us(evidence.kernel->id);
    if (us > 0 && std::abs(result.runtime_ms * 1e3 / us - 1) > 0.01) {
      out_.notes.push_back(fmt::format("{} of {}: the file says {:.4g} us, its record {:.4g} us",
                                       result.name, competitor.side.provider,
                                       result.runtime_ms * 1e3, us));
    }
  }

  const ResultsFile& baseline_;
  const RecordLookup& lookup_;
  const CompareOptions& options_;
  std::vector<Evidence> baseline_evidence_;
  std::set<const ProblemRecord*> recomputed_;
  Comparison out_;
};

Status check_inputs(const ResultsFile& baseline, std::span<const ResultsFile> competitors,
                    const CompareOptions& options) {
  if (!baseline.results) {
    return fail(ErrorCode::missing, "{}: there is no such file; it was to be the baseline",
                baseline.path);
  }
  if (baseline.results->results.empty()) {
    return fail(ErrorCode::missing, "{}: holds no results to compare with", baseline.path);
  }
  if (competitors.empty()) {
    return fail(ErrorCode::invalid_input, "no provider files were given to compare with {}",
                baseline.path);
  }
  if (!(options.margin > 0) || !std::isfinite(options.margin)) {
    return fail(ErrorCode::invalid_input, "the margin is {:g}; it has to be above 0",
                options.margin);
  }
  std::map<std::string, std::string> seen;
  for (const ResultsFile& file : competitors) {
    if (!file.results) continue;
    const auto [first, is_new] = seen.emplace(file.results->provider, file.path);
    if (!is_new) {
      return fail(ErrorCode::invalid_input, "{} and {} are both of provider {}; give one of them",
                  first->second, file.path, file.results->provider);
    }
  }
  return {};
}

}  // namespace

Result<Comparison> compare(const ResultsFile& baseline, std::span<const ResultsFile> competitors,
                           const RecordLookup& lookup, const CompareOptions& options) {
  ASSAY_TRY(check_inputs(baseline, competitors, options));
  Comparer comparer(baseline, lookup, options);
  ASSAY_TRY(comparer.start());
  for (const ResultsFile& file : competitors) {
    ASSAY_TRY(comparer.add(file));
  }
  return comparer.finish();
}

}  // namespace assay
