#include "assay/lab/evaluate/sweep_race.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "assay/base/text.h"
#include "assay/record/plain_verdict.h"
#include "assay/record/record.h"

namespace assay::lab {
namespace {

std::string family_of(const KernelOutcome& kernel) {
  const Json family = kernel.metadata.member("family");
  return family.is_string() ? family.get<std::string>() : std::string();
}

// Of a side's kernels that were confirmed the one that the race had fastest: chosen before its
// confirming samples. Null where there is none.
const KernelOutcome* choose(const ProblemRecord& problem, const Confirmation& confirmation,
                            const std::vector<std::string>& families) {
  const KernelOutcome* best = nullptr;
  double best_us = std::numeric_limits<double>::infinity();
  for (const std::string& id : confirmation.finalists) {
    const KernelOutcome* kernel = problem.find(id);
    if (kernel == nullptr || !is_timed(kernel->ending) ||
        std::ranges::find(families, family_of(*kernel)) == families.end())
      continue;
    const double us = kernel->race && kernel->race->median_us > 0
                          ? kernel->race->median_us
                          : std::numeric_limits<double>::max();
    if (us >= best_us) continue;
    best = kernel;
    best_us = us;
  }
  return best;
}

// Of the stock kernels that were confirmed the fastest one's time; 0 where there is none.
double best_stock_us(const ProblemRecord& problem, const Confirmation& confirmation) {
  double best = 0;
  for (const std::string& id : confirmation.finalists) {
    const KernelOutcome* kernel = problem.find(id);
    if (kernel == nullptr || kernel->role != KernelRole::stock || !is_timed(kernel->ending))
      continue;
    const double us = confirmation.conclusion.median_us(id);
    if (us > 0 && (best == 0 || us < best)) best = us;
  }
  return best;
}

// Why a side has no time on a problem: the first of its kernels that did not get through.
std::string why_none(const ProblemRecord& problem, const std::vector<std::string>& families) {
  for (const KernelOutcome& kernel : problem.kernels)
    if (std::ranges::find(families, family_of(kernel)) != families.end() &&
        !is_timed(kernel.ending))
      return sanitize(kernel.label() + ' ' + ending_sentence(kernel.ending), 300);
  for (const auto& [code, refusal] : problem.refusals) return sanitize(refusal.example, 300);
  return "no kernel of it was confirmed";
}

bool has_wrong_kernel(const ProblemRecord& problem, const std::vector<std::string>& families) {
  return std::ranges::any_of(problem.kernels, [&](const KernelOutcome& kernel) {
    return std::ranges::find(families, family_of(kernel)) != families.end() &&
           std::holds_alternative<ending::Mismatch>(kernel.ending);
  });
}

class RaceReader {
 public:
  RaceReader(const Benchmark& benchmark, const RunRecord& record,
             std::vector<std::vector<std::string>> families)
      : benchmark_(benchmark), record_(record), families_(std::move(families)) {}

  Raced read() {
    for (const ProblemRecord& problem : record_.problems)
      if (!take(problem)) return std::move(raced_);
    weigh();
    return std::move(raced_);
  }

 private:
  struct Standing {
    std::string name;
    double weight = 1, our_us = 0, their_us = 0, stock_us = 0;
    std::vector<std::optional<double>> ratios;  // By process.
  };

  std::string metric(const std::string& name) const { return benchmark_.name + '.' + name; }

  bool refuse(AttemptOutcome outcome, std::string reason) {
    raced_.failure = Failure{outcome, benchmark_.name + ": " + std::move(reason)};
    return false;
  }

  bool take(const ProblemRecord& problem) {
    // An operation's own proof is its parity.
    if (has_wrong_kernel(problem, families_[0]))
      return refuse(AttemptOutcome::parity_failed,
                    fmt::format("{}: {}", problem.name, why_none(problem, families_[0])));
    const Confirmation* confirmation = problem.decisive();
    const KernelOutcome* ours =
        confirmation ? choose(problem, *confirmation, families_[0]) : nullptr;
    const KernelOutcome* theirs =
        confirmation ? choose(problem, *confirmation, families_[1]) : nullptr;
    if (ours == nullptr)
      return refuse(AttemptOutcome::crash,
                    fmt::format("{}: {}", problem.name, why_none(problem, families_[0])));
    if (theirs == nullptr)
      return refuse(AttemptOutcome::crash, fmt::format("the incumbent failed: {}: {}", problem.name,
                                                       why_none(problem, families_[1])));
    Standing standing{problem.name,
                      problem.weight,
                      confirmation->conclusion.median_us(ours->id),
                      confirmation->conclusion.median_us(theirs->id),
                      best_stock_us(problem, *confirmation),
                      {}};
    for (const stats::ProcessMean& mean : pair_means(confirmation->processes, ours->id, theirs->id))
      standing.ratios.push_back(mean.log_ratio);
    raced_.systematic = std::max(raced_.systematic, record_.options.systematic_error);
    add_values(problem, standing);
    standings_.push_back(std::move(standing));
    return true;
  }

  void add_values(const ProblemRecord& problem, const Standing& standing) {
    const std::string name = metric(problem.name + ".us");
    raced_.candidate.values[name] = {standing.our_us, "us"};
    raced_.incumbent.values[name] = {standing.their_us, "us"};
  }

  // A pair's ratio: each shape by its share of the incumbent's time.
  void weigh() {
    double all = 0, ours = 0, stock = 0;
    bool has_stock = true;
    for (const Standing& standing : standings_) {
      all += standing.weight * standing.their_us;
      ours += standing.weight * standing.our_us;
      stock += standing.weight * standing.stock_us;
      has_stock = has_stock && standing.stock_us > 0;
    }
    if (has_stock && ours > 0 && all > 0) {  // Above 1: ahead of the best of the stock pool.
      raced_.candidate.values[metric("vs_best_stock")] = {stock / ours, ""};
      raced_.incumbent.values[metric("vs_best_stock")] = {stock / all, ""};
    }
    raced_.candidate.values[metric("weighted_us")] = {ours, "us"};
    raced_.incumbent.values[metric("weighted_us")] = {all, "us"};
    for (const Standing& standing : standings_)
      if (ours > 0)
        raced_.candidate.values[metric(standing.name + ".share")] = {
            standing.weight * standing.our_us / ours, ""};
    const size_t processes = standings_.empty() ? 0 : standings_.front().ratios.size();
    for (size_t process = 0; process < processes; ++process) {
      std::map<std::string, double> pair;
      double weighted = 0;
      bool whole = all > 0;
      for (const Standing& standing : standings_) {
        whole = whole && process < standing.ratios.size() && standing.ratios[process].has_value();
        if (!whole) break;
        pair[metric(standing.name + ".us")] = *standing.ratios[process];
        weighted += standing.weight * standing.their_us / all * *standing.ratios[process];
      }
      if (!whole) continue;  // Spoiled by others: no pair, and no claim.
      pair[metric("weighted_us")] = weighted;
      raced_.pairs.push_back(std::move(pair));
    }
  }

  const Benchmark& benchmark_;
  const RunRecord& record_;
  std::vector<std::vector<std::string>> families_;
  std::vector<Standing> standings_;
  Raced raced_;
};

}  // namespace

std::vector<std::string> without_shapes(const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 5> kShapes = {"--suite", "--shapes", "--shape", "--model",
                                                       "--batch"};
  std::vector<std::string> rest;
  bool leaves_out = false;
  for (const std::string& word : words) {
    if (word.starts_with("--"))
      leaves_out = std::ranges::find(kShapes, word.substr(0, word.find('='))) != kShapes.end();
    if (!leaves_out) rest.push_back(word);
  }
  return rest;
}

std::optional<Heaviest> heaviest_of(const RunRecord& record,
                                    const std::vector<std::string>& families) {
  std::optional<Heaviest> heaviest;
  double most = 0;
  for (const ProblemRecord& problem : record.problems) {
    const Confirmation* confirmation = problem.decisive();
    const KernelOutcome* kernel = confirmation ? choose(problem, *confirmation, families) : nullptr;
    if (kernel == nullptr) continue;
    const double us = problem.weight * confirmation->conclusion.median_us(kernel->id);
    if (us <= most) continue;
    most = us;
    heaviest = {problem.name, problem.problem, kernel->id, kernel->label()};
  }
  return heaviest;
}

Result<Raced> race_sides(const ProgramRunner& runner, const Benchmark& benchmark,
                         const Side& candidate, const Side& incumbent, int processes,
                         const FamiliesOf& families_of, const std::filesystem::path& folder) {
  const auto& race = std::get<SweepRace>(benchmark.kind);
  const std::vector<std::string> manifests = {(candidate.folder / race.manifest).string(),
                                              (incumbent.folder / race.manifest).string()};
  auto families = families_of(manifests);
  if (!families)
    return Raced{.failure = Failure{AttemptOutcome::build_failed,
                                    benchmark.name + ": " + families.error().message}};
  std::vector<std::string> words = {"/proc/self/exe", "race", manifests[0], manifests[1]};
  words.insert(words.end(), race.arguments.begin(), race.arguments.end());
  for (std::string word : {std::string("--processes"), std::to_string(std::max(2, processes)),
                           std::string("--output-dir"), folder.string(), std::string("--json"),
                           std::string("--quiet")})
    words.push_back(std::move(word));
  ASSAY_TRY(const ProgramRun run, runner.run(folder.filename().string(), words, candidate.folder,
                                             candidate.environment, benchmark.timeout_seconds));
  const std::string path = (folder / "record.json").string();
  auto record = load_record(path);
  if (!record) {
    // The race says on stderr why it left none.
    const std::string why = run.failure ? run.reason : record.error().message;
    return Raced{.failure = Failure{run.failure.value_or(AttemptOutcome::crash),
                                    benchmark.name + ": " + why}};
  }
  return RaceReader(benchmark, *record, std::move(*families)).read();
}

}  // namespace assay::lab
