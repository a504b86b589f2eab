#include "assay/compare/claimed.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "assay/compare/proof_claims.h"
#include "assay/compare/timing_claims.h"
#include "assay/kernel/metadata.h"
#include "assay/op/operation.h"

namespace assay {
namespace {

constexpr std::string_view kCaches[] = {"cold_weights", "cold", "warm"};
constexpr std::string_view kSpacings[] = {"isolated", "back_to_back", "chain"};
constexpr std::string_view kLaunches[] = {"plain", "graph"};
constexpr std::string_view kPreparations[] = {"none", "allowed"};
constexpr std::string_view kDependentLaunches[] = {"forbidden", "allowed"};

std::string number(double value) { return fmt::format("{:.17g}", value); }

class Contradictions {
 public:
  explicit Contradictions(const ProblemRecord& recorded) : recorded_(recorded) {}

  std::vector<Contradiction> find() {
    const auto problem = problem_of(recorded_);
    if (problem) {
      check_problem(*problem);
    } else {
      found_.push_back({"problem", "the fields of one", problem.error().message});
    }
    check_words();
    for (const KernelOutcome& kernel : recorded_.kernels) check_kernel(kernel);
    add(find_timing_contradictions(recorded_));
    return std::move(found_);
  }

 private:
  void hold(std::string what, const std::string& recorded, const std::string& made) {
    if (recorded != made) found_.push_back({std::move(what), recorded, made});
  }

  void check_problem(const Problem& problem) {
    hold("name", recorded_.name, problem.name());
    hold("key", recorded_.key, problem.key());
    hold("role", recorded_.role, problem.role());
    hold("weight", number(recorded_.weight), number(problem.weight()));
    // A name need not say the sizes.
    if (const auto operation = find_operation(recorded_.operation)) {
      const Work work = (*operation)->work(problem);
      hold("flops", number(recorded_.flops), number(work.flops));
      hold("bytes", number(recorded_.bytes), number(work.bytes()));
      add(find_proof_contradictions(recorded_, **operation, problem));
    }
    if (recorded_.condition.cache == "cold_weights" && !problem.has_constant())
      found_.push_back({"condition.cache", "cold_weights", "cold or warm: nothing is constant"});
  }

  void add(std::vector<Contradiction> more) { std::ranges::move(more, std::back_inserter(found_)); }

  void one_of(std::string what, const std::string& recorded,
              std::span<const std::string_view> words) {
    if (std::ranges::find(words, recorded) == words.end())
      found_.push_back({std::move(what), recorded, fmt::format("{}", fmt::join(words, " or "))});
  }

  void check_words() {
    one_of("condition.cache", recorded_.condition.cache, kCaches);
    one_of("condition.spacing", recorded_.condition.spacing, kSpacings);
    one_of("condition.launch", recorded_.condition.launch, kLaunches);
    one_of("class.preparation", recorded_.race_class.preparation, kPreparations);
    one_of("class.dependent_launch", recorded_.race_class.dependent_launch, kDependentLaunches);
  }

  void check_kernel(const KernelOutcome& kernel) {
    const auto metadata = KernelMetadata::from_json(kernel.metadata.json());
    if (!metadata) {
      found_.push_back({"metadata of " + kernel.label(), "a kernel's", metadata.error().message});
      return;
    }
    // A second copy of one kernel has a number behind its id.
    hold("id of " + kernel.label(), kernel.id.substr(0, kernel.id.find('#')), metadata->id());
    hold("provider of " + kernel.label(), kernel.provider, metadata->provider());
    hold("name of " + kernel.label(), kernel.name, metadata->name());
    check_manners(kernel, *metadata);
    if (!is_timed(kernel.ending)) return;
    if (metadata->prepares() && recorded_.race_class.preparation == "none")
      found_.push_back({"class.preparation", "none", "allowed: " + kernel.label() + " prepares"});
    if (metadata->dependent_launch() && recorded_.race_class.dependent_launch == "forbidden")
      found_.push_back({"class.dependent_launch", "forbidden",
                        "allowed: " + kernel.label() + " is launched so"});
  }

  // The id is none of what it does besides: that is held against what was seen.
  void check_manners(const KernelOutcome& kernel, const KernelMetadata& metadata) {
    const bool packs = metadata.traits->rule &&
                       std::ranges::any_of(metadata.rule().operands, &OperandRule::prepared);
    const bool packed = kernel.prepared_bytes > 0 || kernel.prepare_seconds > 0;
    if (!metadata.prepares() && (packs || packed))
      found_.push_back({"prepares of " + kernel.label(), "no",
                        packs ? "yes: its rule packs an operand" : "yes: it has packed"});
    if (metadata.prepares() && is_timed(kernel.ending) && kernel.prepared_bytes == 0)
      found_.push_back({"prepared_bytes of " + kernel.label(), "0", "some: it prepares"});
    if (kernel.proof)
      hold("error bound of " + kernel.label(), std::string(to_string(kernel.proof->error_bound)),
           std::string(to_string(metadata.error_bound())));
    // In the words of who proved it.
    for (const Finding& finding : kernel.findings)
      if (finding.code == "nondeterministic" &&
          finding.sentence.ends_with("as it declares") == metadata.deterministic())
        hold("deterministic of " + kernel.label(), metadata.deterministic() ? "yes" : "no",
             metadata.deterministic() ? "no" : "yes");
  }

  const ProblemRecord& recorded_;
  std::vector<Contradiction> found_;
};

}  // namespace

Result<Problem> problem_of(const ProblemRecord& recorded) {
  ASSAY_TRY(const Operation* operation, find_operation(recorded.operation));
  auto problem = operation->problem(recorded.problem);
  if (!problem)
    return fail(ErrorCode::invalid_input, "problem {}: {}", recorded.name, problem.error().message);
  return problem;
}

std::vector<Contradiction> find_contradictions(const ProblemRecord& recorded) {
  return Contradictions(recorded).find();
}

}  // namespace assay
