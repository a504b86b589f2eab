#pragma once

// Candidate and incumbent measured side by side, pair by pair.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/random.h"
#include "assay/lab/evaluate/measure.h"
#include "assay/lab/evaluate/slots.h"
#include "assay/lab/evaluate/sweep_race.h"
#include "assay/lab/files/case_file.h"

namespace assay::lab {

// A metric that decides: the objective's, or a guardrail's.
struct Watched {
  std::string metric;
  Direction direction = Direction::minimize;
};

// log of how many times as good the candidate's value is as the incumbent's. failed: a value that
// is missing or not above 0, of which there is no ratio.
Result<double> log_ratio_of(const Watched& watched, const Metrics& candidate,
                            const Metrics& incumbent);

struct PairPlan {
  std::vector<const Benchmark*> benchmarks;  // All run in each pair, in this order.
  std::vector<Watched> watched;
  std::optional<CaseServer> server;  // Of `openai_http` benchmarks.
  int64_t deadline_ns = 0;           // Of monotonic_ns(): no pair begins after it.
  std::filesystem::path folder;      // Of the attempt, for what `sweep` benchmarks leave.
  FamiliesOf families_of;
  std::function<void(int done)> on_pair;
  std::function<bool(std::string_view path)> judges;  // Whether a file of a case gates or scores.
};

class PairTaker {
 public:
  PairTaker(const ProgramRunner& runner, Slots& slots, PairPlan plan, Side candidate,
            Side incumbent, CounterRandom orders)
      : runner_(runner),
        slots_(slots),
        plan_(std::move(plan)),
        candidate_(std::move(candidate)),
        incumbent_(std::move(incumbent)),
        orders_(orders) {}

  // Until there are so many; in the middle of what is added the two exchange their folders.
  // Fewer where the time is over. A failure of either side ends it.
  Result<std::optional<Failure>> take(int pairs);

  bool time_is_over() const { return time_is_over_; }
  double systematic() const { return systematic_; }  // Of `sweep` benchmarks, the largest.
  const std::vector<AttemptPair>& pairs() const { return pairs_; }
  // The candidate's metrics of every pair.
  const std::vector<Metrics>& candidate_metrics() const { return metrics_; }

 private:
  Result<std::optional<Failure>> take_one();
  Result<std::optional<Failure>> take_races(int pairs);
  Result<Measured> run_side(bool candidate, int number);
  Result<Measured> run_untouched_side(bool candidate, int number);
  Result<std::optional<Failure>> compare_values(int first);
  bool is_printed(std::string_view metric) const;
  Status exchange();

  const ProgramRunner& runner_;
  Slots& slots_;
  PairPlan plan_;
  Side candidate_, incumbent_;
  CounterRandom orders_;
  bool swapped_ = false, time_is_over_ = false;
  // Of the incumbent's folder and of the candidate's, as its own last run left it.
  std::array<std::optional<FolderStamp>, 2> stamps_;
  double systematic_ = 0;
  std::vector<AttemptPair> pairs_;
  std::vector<Metrics> metrics_;
};

}  // namespace assay::lab
