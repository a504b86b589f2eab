#include "assay/sweep/stages/ask_again.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/sweep/stages/prove.h"
#include "assay/timing/bursts.h"
#include "assay/timing/endings.h"

namespace assay::sweep {
namespace {

// As when it is found who changed inputs: one that counts its calls has had as many, and some.
constexpr int kMoreRounds = 8, kMostRounds = 64;
constexpr uint64_t kPlacementSeed = 5;
constexpr double kLooks = 0.5;  // At its outputs, after each round.

class AskingAgain {
 public:
  AskingAgain(const Station& station, Field& field, const std::vector<size_t>& company, int rounds)
      : station_(station), field_(field), rounds_(std::min(2 * rounds + kMoreRounds, kMostRounds)) {
    for (const size_t index : company)
      (owner_of(index).empty() ? stock_ : guests_[owner_of(index)]).push_back(index);
  }

  Result<std::vector<Finding>> run() {
    std::vector<size_t> fallen;
    for (const auto& [owner, kernels] : guests_) add_fallen(kernels, fallen);
    add_fallen(stock_, fallen);
    for (const size_t index : fallen) ASSAY_TRY(ask(index));
    return std::move(findings_);
  }

 private:
  // Whose code it is, wherever it runs: empty for stock kernels and ours.
  std::string owner_of(size_t index) const {
    const Candidate& candidate = field_.candidates[index];
    return station_.taints_process(candidate) ? candidate.outcome.provider + '/' + candidate.family
                                              : std::string();
  }

  // What a user's kernel did in a process that had no other's code in it is its own doing, but for
  // what the machine has of everything for all.
  bool may_be_of_others(const Candidate& candidate) const {
    const Ending& ending = candidate.outcome.ending;
    const bool is_guest = station_.taints_process(candidate);
    const size_t others = guests_.size() - (is_guest ? 1 : 0);
    if (others == 0 || std::holds_alternative<ending::NotReached>(ending)) return false;
    if (!is_guest && met_own_limit(ending)) return false;
    if (!is_guest || guests_.size() > station_.guests_at_once() || station_.request.venue.is_gpu())
      return true;
    return fails_by_limits(ending);
  }

  // What is resident in a process on cores is its own: no other process adds to it.
  bool met_own_limit(const Ending& ending) const {
    const auto* memory = std::get_if<ending::OutOfMemory>(&ending);
    return memory != nullptr && memory->limit_bytes > 0 && station_.request.venue.is_cpu();
  }

  void add_fallen(const std::vector<size_t>& kernels, std::vector<size_t>& fallen) const {
    for (const size_t index : kernels) {
      const Candidate& candidate = field_.candidates[index];
      if (!candidate.alive() && candidate.proven && may_be_of_others(candidate))
        fallen.push_back(index);
    }
  }

  Status ask(size_t index) {
    Candidate& candidate = field_.candidates[index];
    const KernelOutcome failed = candidate.outcome;
    station_.observer.on_stage("ask again", 1, 1, failed.label());
    ASSAY_TRY(const bool stands, stands_beside(index, stock_));
    if (!stands) {
      candidate.outcome = failed;
      return {};
    }
    bool found = false;
    for (const auto& [owner, kernels] : guests_) {
      if (owner == owner_of(index)) continue;
      std::vector<size_t> beside = stock_;
      beside.insert(beside.end(), kernels.begin(), kernels.end());
      const std::vector<Ending> endings = endings_of(kernels);
      ASSAY_TRY(const bool stands_there, stands_beside(index, beside));
      restore(kernels, endings);
      if (stands_there) continue;
      found = true;
      for (const size_t trespasser : kernels)
        if (field_.candidates[trespasser].alive())
          field_.candidates[trespasser].outcome.ending = ending::Violation{
              "spoils_others", fmt::format("{} {} beside it, and not without it", failed.label(),
                                           ending_sentence(failed.ending))};
    }
    candidate.outcome = failed;
    candidate.outcome.ending = ending::Timed{};
    if (found) return {};
    findings_.push_back({station_.taints_process(candidate) ? "failed_once" : "failed_in_company",
                         fmt::format("{} {} beside users' kernels, and stood when it was asked "
                                     "again without them; who made it fail was not found",
                                     failed.label(), ending_sentence(failed.ending))});
    return {};
  }

  std::vector<Ending> endings_of(const std::vector<size_t>& kernels) const {
    std::vector<Ending> endings;
    for (const size_t index : kernels) endings.push_back(field_.candidates[index].outcome.ending);
    return endings;
  }

  void restore(const std::vector<size_t>& kernels, const std::vector<Ending>& endings) {
    for (size_t i = 0; i < kernels.size(); ++i)
      field_.candidates[kernels[i]].outcome.ending = endings[i];
  }

  // Proven and timed there, in fresh processes, on fresh inputs.
  Result<bool> stands_beside(size_t index, const std::vector<size_t>& others) {
    Candidate& candidate = field_.candidates[index];
    candidate.outcome.ending = ending::Timed{};
    std::vector<size_t> who = {index};
    for (const size_t other : others)
      if (other != index && field_.candidates[other].alive()) who.push_back(other);
    Instances instances(station_);
    ASSAY_TRY(instances.commit());
    ASSAY_TRY(instances.make(InputKind::uniform));
    Bursts bursts(station_, field_, Crew::kRace);
    ASSAY_TRY(bursts.open(instances, who, kPlacementSeed));
    if (bursts.is_open(index))
      ASSAY_TRY(prove_where_timed(station_, field_, bursts, instances, index));
    for (int round = 0; round < rounds_ && candidate.alive(); ++round) {
      ASSAY_TRY(bursts.round(who, "race").map([](const Bursts::Round&) {}));
      ASSAY_TRY(bursts.judge_some(instances, {index}, kLooks));
    }
    if (candidate.alive()) ASSAY_TRY(bursts.judge_timed_output(instances, index));
    ASSAY_TRY(bursts.unload());
    ASSAY_TRY(instances.drop());
    return candidate.alive();
  }

  const Station& station_;
  Field& field_;
  int rounds_;
  std::vector<size_t> stock_;
  std::map<std::string, std::vector<size_t>> guests_;
  std::vector<Finding> findings_;
};

}  // namespace

Result<std::vector<Finding>> ask_again(const Station& station, Field& field,
                                       const std::vector<size_t>& company, int rounds) {
  return AskingAgain(station, field, company, rounds).run();
}

}  // namespace assay::sweep
