// The live view: state from the observer's calls, drawn by a thread of its own so that the clock
// goes on where a stage takes long.

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/text.h"
#include "assay/measure/environment.h"
#include "assay/op/operation.h"
#include "cli/files/user_files.h"
#include "cli/show/live_text.h"
#include "cli/show/progress.h"

namespace assay::cli {
namespace {

// At most ten a second by the design; a quarter of that is as smooth and leaves the cores alone.
constexpr auto kRedraw = std::chrono::milliseconds(400);
constexpr double kRaceRounds = 24;  // Most races have ended by then.

// Where a problem's stages begin, as shares of its time: measured on the default suite.
struct Stage {
  std::string_view name, shown;
  double from, to;
};
constexpr Stage kStages[] = {{"build", "compile", 0, 0.05},
                             {"reference", "reference", 0.05, 0.10},
                             {"prove", "prove", 0.10, 0.30},
                             {"race", "race", 0.30, 0.55},
                             {"confirm", "confirm", 0.55, 1.0}};

double share_of(std::string_view stage, double part) {
  for (const Stage& one : kStages)
    if (one.name == stage) return one.from + (one.to - one.from) * std::clamp(part, 0.0, 1.0);
  return 0;
}

class LiveView : public sweep::Observer {
 public:
  LiveView(Console& console, const sweep::Request& request)
      : console_(console), start_(monotonic_ns()) {
    const bool of_file = request.question.kind == "race" && !request.pool.kernels.empty();
    state_.title = fmt::format(
        "assay {}  {}", request.question.kind,
        of_file ? stem_of(request.pool.kernels.front().text()) : request.question.suite);
    state_.problems = request.question.problems.size();
    drawer_ = std::thread([this] { draw_until_done(); });
  }
  ~LiveView() override {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    wake_.notify_all();
    drawer_.join();
    console_.finish_redraw();
  }
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  void on_begin(const Environment& environment, const std::vector<Problem>&) override {
    const std::lock_guard lock(mutex_);
    state_.machine = fmt::format("{}, {} thread{}", environment.device.name, environment.threads,
                                 environment.threads == 1 ? "" : "s");
    governor_ = environment.governor;
  }

  void on_ceilings(const std::vector<Ceiling>& ceilings) override {
    const std::lock_guard lock(mutex_);
    ceilings_ = ceilings;
    state_.roof = roof_of(problem_, ceilings_);
  }

  void on_problem(size_t index, const Problem& problem,
                  const measure::Condition& condition) override {
    const std::lock_guard lock(mutex_);
    // Those before it are raced, and wait to be confirmed with it.
    raced_ = std::max(raced_, index);
    problems_in_hand_ = index + 1;
    within_ = 0;
    state_.shape = problem.name();
    state_.stage = "discover";
    state_.doing.clear();
    state_.standings.clear();
    state_.condition = condition_words(condition);
    problem_ = ProblemRecord();
    problem_.key = problem.key();
    problem_.condition.cache = to_string(condition.cache);
    if (const auto operation = find_operation(problem.operation())) {
      const Work work = (*operation)->work(problem);
      problem_.flops = state_.flops = work.flops;
      problem_.bytes = state_.bytes = work.bytes();
    }
    state_.roof = roof_of(problem_, ceilings_);
  }

  void on_stage(const std::string& stage, size_t done, size_t total,
                const std::string& what) override {
    const std::lock_guard lock(mutex_);
    state_.stage = stage;
    for (const Stage& one : kStages)
      if (one.name == stage) state_.stage = one.shown;
    if (stage == "confirm") return confirm(done, total, what);
    state_.doing = what.empty() ? fmt::format("{} of {}", done, total)
                                : fmt::format("{} of {}: {}", done, total, what);
    if (total > 0)
      advance(share_of(stage, (static_cast<double>(done) - 1) / static_cast<double>(total)));
  }

  void on_standings(int round, const std::vector<sweep::Standing>& standings) override {
    const std::lock_guard lock(mutex_);
    state_.stage = fmt::format("race, round {}", round);
    state_.doing.clear();
    state_.standings = standings;
    advance(share_of("race", round / kRaceRounds));
  }

  void on_problem_done(size_t index, const ProblemRecord& record, bool from_journal) override {
    const std::lock_guard lock(mutex_);
    for (const auto& [reason, refusal] : record.refusals) state_.refused += refusal.count;
    if (record.race) state_.dropped += record.race->dropped;
    for (const KernelOutcome& kernel : record.kernels) {
      const std::string_view ending = ending_name(kernel.ending);
      const bool wrong = ending == "mismatch" || ending == "violation";
      const bool crashed = ending == "crash" || ending == "timeout" || ending == "out_of_memory" ||
                           ending == "device_lost";
      state_.wrong += wrong ? 1 : 0;
      state_.crashed += crashed ? 1 : 0;
      if (wrong || crashed)
        state_.last_fall = fmt::format("{}: {}", kernel.label(), ending_sentence(kernel.ending));
    }
    state_.done = index + 1;
    raced_ = std::max(raced_, state_.done);
    within_ = 0;
    confirmed_ = 0;
    if (from_journal) ++from_journal_;
  }

  void on_note(const std::string& sentence) override { console_.note(sentence); }

 private:
  // All that are raced, in one process after the other.
  void confirm(size_t visit, size_t visits, const std::string& shape) {
    state_.doing = fmt::format("visit {} of {}", visit, visits);
    if (state_.shape != shape) {
      state_.shape = shape;
      state_.standings.clear();  // Of the shape that was raced last.
    }
    raced_ = std::max(raced_, std::min(problems_in_hand_, state_.problems));
    within_ = 0;
    const double part = (static_cast<double>(visit) - 1) / static_cast<double>(visits);
    confirmed_ = std::max(confirmed_, part);
  }

  // A second confirmation begins again; the bar does not go back.
  void advance(double share) { within_ = std::max(within_, share); }

  void draw_until_done() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, kRedraw, [this] { return ended_; })) {
      update_clock();
      const LiveState state = state_;
      lock.unlock();
      console_.redraw(live_text(state, console_.width_error(), console_.height_error()));
      lock.lock();
    }
  }

  void update_clock() {
    const auto problems = static_cast<double>(std::max<size_t>(state_.problems, 1));
    const double confirm_from = share_of("confirm", 0);
    const auto waiting = static_cast<double>(raced_ - state_.done);
    const double done = static_cast<double>(state_.done) +
                        waiting * (confirm_from + (1 - confirm_from) * confirmed_) +
                        (raced_ < state_.problems ? within_ : 0);
    state_.elapsed = static_cast<double>(monotonic_ns() - start_) * 1e-9;
    state_.progress = done / problems;
    const double worked = done - static_cast<double>(from_journal_);
    state_.left = worked > 0.1 ? state_.elapsed / worked * (problems - done) : 0;
    if (state_.elapsed - load_read_ > 2) {
      load_read_ = state_.elapsed;
      state_.load = fmt::format("load {:.2f}", measure::other_load());
      if (!governor_.empty()) state_.load += "   governor " + governor_;
    }
  }

  Console& console_;
  const std::int64_t start_;
  std::mutex mutex_;  // Of everything below.
  std::condition_variable wake_;
  bool ended_ = false;
  LiveState state_;
  ProblemRecord problem_;  // What its roof depends on.
  std::vector<Ceiling> ceilings_;
  double within_ = 0;  // Of the problem that is being raced.
  size_t raced_ = 0;   // Problems, confirmed ones included.
  size_t problems_in_hand_ = 0;
  double confirmed_ = 0;  // Of those that are raced and wait.
  size_t from_journal_ = 0;
  double load_read_ = -10;
  std::string governor_;
  std::thread drawer_;
};

}  // namespace

std::unique_ptr<sweep::Observer> make_live_view(Console& console, const sweep::Request& request) {
  return std::make_unique<LiveView>(console, request);
}

}  // namespace assay::cli
