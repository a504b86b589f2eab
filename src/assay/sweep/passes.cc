#include "assay/sweep/passes.h"

#include <algorithm>
#include <random>

namespace assay::sweep {
namespace {

// One confirmation of each, from begin to conclusion.
class Passes {
 public:
  Passes(std::vector<ProblemRun*> problems, Crew& crew, Observer& observer)
      : problems_(std::move(problems)), crew_(crew), observer_(observer) {}

  Status run(double budget_seconds) {
    for (ProblemRun* problem : problems_) {
      ASSAY_TRY(problem->begin_confirmation());
      expected_ += static_cast<size_t>(problem->confirming().processes());
    }
    // What ran in it before is no fresh process.
    crew_.dismiss_confirmer();
    ASSAY_TRY(plan_all(budget_seconds));
    for (std::vector<ProblemRun*> left = unfinished(); !left.empty(); left = unfinished()) {
      // Who comes first finds a process that has allocated nothing; not the same one each time.
      std::shuffle(left.begin(), left.end(), random_);
      for (ProblemRun* problem : left) ASSAY_TRY(visit(*problem, 0));
      crew_.dismiss_confirmer();
    }
    for (ProblemRun* problem : problems_) ASSAY_TRY(problem->conclude_confirmation());
    return {};
  }

 private:
  // The first pass.
  Status plan_all(double budget_seconds) {
    size_t to_come = problems_.size();
    for (ProblemRun* problem : problems_) {
      const auto fewest = static_cast<size_t>(problem->confirming().processes());
      ASSAY_TRY(visit(*problem, budget_seconds / static_cast<double>(to_come--)));
      budget_seconds = std::max(0.0, budget_seconds - problem->confirming().planned_seconds());
      expected_ += static_cast<size_t>(problem->confirming().processes()) - fewest;
    }
    crew_.dismiss_confirmer();
    return {};
  }

  Status visit(ProblemRun& problem, double budget_seconds) {
    observer_.on_stage("confirm", ++visited_, expected_, problem.problem().name());
    return problem.confirming().visit(budget_seconds);
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
  size_t visited_ = 0, expected_ = 0;
};

}  // namespace

Status confirm_in_passes(std::vector<ProblemRun*> problems, Crew& crew, Observer& observer,
                         const PassBudget& budget) {
  const double each =
      problems.empty() ? 0 : budget.confirm_seconds / static_cast<double>(problems.size());
  for (;;) {
    for (ProblemRun* problem : problems)
      if (problem->next() == ProblemRun::Next::race)
        ASSAY_TRY(problem->race_field(budget.race_seconds));
    std::erase_if(problems, [](const ProblemRun* problem) {
      return problem->next() == ProblemRun::Next::finish;
    });
    if (problems.empty()) return {};
    Passes passes(problems, crew, observer);
    ASSAY_TRY(passes.run(each * static_cast<double>(problems.size())));
  }
}

}  // namespace assay::sweep
