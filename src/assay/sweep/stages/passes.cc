#include "assay/sweep/stages/passes.h"

#include <algorithm>
#include <random>
#include <span>

#include "assay/base/clock.h"

namespace assay::sweep {
namespace {

// One confirmation of each, from begin to conclusion.
class Passes {
 public:
  Passes(std::vector<ProblemRun*> problems, Crew& crew, Observer& observer, double budget_seconds)
      : problems_(std::move(problems)),
        crew_(crew),
        observer_(observer),
        unplanned_(problems_.size()),
        budget_seconds_(budget_seconds) {}

  Status run() {
    for (ProblemRun* problem : problems_) {
      ASSAY_TRY(problem->begin_confirmation());
      expected_ += problem->confirming().processes();
    }
    do {
      for (std::vector<ProblemRun*> left = unfinished(); !left.empty(); left = unfinished()) {
        // Who comes first finds a process that has allocated nothing; not the same one each time.
        std::shuffle(left.begin(), left.end(), random_);
        ASSAY_TRY(make_pass(left));
        crew_.dismiss_confirmers();
      }
      extend();
    } while (!unfinished().empty());
    for (ProblemRun* problem : problems_) ASSAY_TRY(problem->conclude_confirmation());
    return {};
  }

 private:
  // Of few problems, as many passes at once as are set up side by side, each in processes of its
  // own.
  Status make_pass(const std::vector<ProblemRun*>& problems) {
    double bytes = 0;
    auto passes = static_cast<size_t>(expected_);
    for (const ProblemRun* problem : problems) {
      const Confirming& confirming = problem->confirming();
      bytes = std::max(bytes, confirming.bytes());
      passes = std::min(passes, static_cast<size_t>(confirming.processes() - confirming.visited()));
    }
    const size_t at_once = crew_.confirmers_at_once(bytes);
    passes = std::clamp<size_t>(at_once / problems.size(), 1, passes);
    std::vector<ProblemRun*> turns;
    for (size_t pass = 0; pass < passes; ++pass)
      turns.insert(turns.end(), problems.begin(), problems.end());
    for (std::span<ProblemRun* const> left(turns); !left.empty();) {
      const size_t count = std::min(at_once, left.size());
      ASSAY_TRY(visit(left.first(count)));
      left = left.subspan(count);
    }
    return {};
  }

  // In a process each.
  Status visit(std::span<ProblemRun* const> problems) {
    const int64_t start = monotonic_ns();
    std::vector<std::unique_ptr<Confirming::Visit>> visits;
    std::vector<Instances::Derivation> inputs;
    std::vector<std::function<Status()>> tasks;
    for (size_t i = 0; i < problems.size(); ++i) {
      ASSAY_TRY(visits.emplace_back(), problems[i]->confirming().visit(i));
      inputs.push_back({&visits.back()->instances, &problems[i]->confirming().base()});
      tasks.push_back([&, i] { return problems[i]->confirming().set_up(*visits[i]); });
    }
    observe(*problems.front());
    ASSAY_TRY(Instances::derive(crew_, inputs));
    ASSAY_TRY(crew_.side_by_side(tasks));
    const double setup_seconds =
        static_cast<double>(monotonic_ns() - start) * 1e-9 / static_cast<double>(problems.size());
    for (size_t i = 0; i < problems.size(); ++i) {
      if (!problems[i]->confirming().planned()) plan(problems[i]->confirming(), setup_seconds);
      if (i > 0) observe(*problems[i]);
      ASSAY_TRY(problems[i]->confirming().time(*visits[i]));
    }
    return {};
  }

  // What one does not need, those that come after it have.
  void plan(Confirming& confirming, double setup_seconds) {
    const int fewest = confirming.processes();
    confirming.plan(budget_seconds_ / static_cast<double>(unplanned_--), setup_seconds);
    budget_seconds_ = std::max(0.0, budget_seconds_ - confirming.planned_seconds());
    expected_ += confirming.processes() - fewest;
  }

  // From what the plans have left.
  void extend() {
    for (ProblemRun* problem : problems_) {
      const int more = problem->extend_confirmation(budget_seconds_);
      expected_ += more;
      budget_seconds_ -= more * problem->confirming().process_seconds();
    }
  }

  void observe(const ProblemRun& problem) {
    observer_.on_stage("confirm", ++visited_, static_cast<size_t>(expected_),
                       problem.problem().name());
  }

  std::vector<ProblemRun*> unfinished() const {
    std::vector<ProblemRun*> left;
    for (ProblemRun* problem : problems_)
      if (problem->confirming().visited() < problem->confirming().processes())
        left.push_back(problem);
    return left;
  }

  std::vector<ProblemRun*> problems_;
  Crew& crew_;
  Observer& observer_;
  std::mt19937_64 random_{std::random_device{}()};
  size_t visited_ = 0;
  int expected_ = 0;
  size_t unplanned_;
  double budget_seconds_;  // Of timing: what is left for those without a plan.
};

}  // namespace

Status confirm_in_passes(std::vector<ProblemRun*> problems, Crew& crew, Observer& observer,
                         double budget_seconds) {
  return Passes(std::move(problems), crew, observer, budget_seconds).run();
}

}  // namespace assay::sweep
