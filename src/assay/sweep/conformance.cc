#include "assay/verify/conformance.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/kernel/refusals.h"
#include "assay/process/messages.h"
#include "assay/sweep/crew.h"

namespace assay::sweep {
namespace {

constexpr int kMostDeaths = 3;     // Each is a new process: more of them say nothing new.
constexpr size_t kMostFaults = 8;  // Of one check.

using Check = ConformanceReport::Check;

// Runs check by check, in a new process after each that died.
class ConformanceStudy {
 public:
  ConformanceStudy(const Request& request, Observer& observer)
      : request_(request), observer_(observer), crew_(request_) {
    request_.pool.providers.clear();
  }

  Result<ConformanceReport> run() {
    ASSAY_TRY(crew_.discoverer().map([](Child*) {}));
    const auto checks = verify::conformance_checks();
    total_ = checks.size() + 2;
    ASSAY_TRY(look_at_manners(begin("loads", "loads, and says what it offers", "files")));
    ASSAY_TRY(const auto problems, verify::conformance_problems());
    for (const verify::ConformanceCheck& check : checks) {
      Check& entry = begin(check.name, check.what, check.unit);
      if (!check.per_problem) ASSAY_TRY(ask(entry, nullptr));
      for (size_t p = 0; check.per_problem && p < problems.size(); ++p) {
        if (entry.faults.size() >= kMostFaults) break;  // Others would say the same.
        ASSAY_TRY(ask(entry, &problems[p]));
      }
      if (check.name == "rows") report_.kernels = entry.looked_at;
      if (check.name == "computes" && ran_.empty() && entry.faults.empty())
        entry.faults.push_back("no problem of the list can be taken by any of its kernels" +
                               an_example());
    }
    ASSAY_TRY(look_at_manners(
        begin("leaves", "leaves nothing behind, and its process as it was", "looks")));
    report_.ran = static_cast<int64_t>(ran_.size());
    return std::move(report_);
  }

 private:
  Check& begin(std::string_view name, std::string_view what, std::string_view unit) {
    observer_.on_stage("check", report_.checks.size() + 1, total_, std::string(what));
    return report_.checks.emplace_back(
        Check{std::string(name), std::string(what), std::string(unit), {}, 0});
  }

  // Whether to go on. Each hang takes the whole of its time.
  bool may_ask(Check& check) {
    if (!hung_ && deaths_ < kMostDeaths) return true;
    const std::string sentence =
        hung_ ? std::string("not checked to its end: it hung")
              : fmt::format("not checked to its end: {} processes died", deaths_);
    if (check.faults.empty() || check.faults.back() != sentence) add(check, sentence);
    return false;
  }

  Status look_at_manners(Check& check) {
    if (!may_ask(check)) return {};
    ASSAY_TRY(Child* const worker, crew_.discoverer());
    const auto answer = worker->call(process::Manners{}, request_.limits.trial_seconds);
    if (!answer) return failed(check, "", answer.error());
    ++check.looked_at;
    for (const std::string& fault : answer->faults) add(check, sanitize(fault, 1000));
    return {};
  }

  Status ask(Check& check, const Problem* problem) {
    if (!may_ask(check)) return {};
    ASSAY_TRY(Child* const worker, crew_.discoverer());
    process::Conform conform{check.name, {}};
    if (problem != nullptr) conform.problem = *problem;
    const std::string where = problem == nullptr ? "" : "on " + problem->name() + ": ";
    const auto answer = worker->call(conform, request_.limits.trial_seconds);
    for (const std::string& note : worker->take_notes()) observer_.on_note(note);
    if (!answer) return failed(check, where, answer.error());
    take(check, where, *answer);
    return {};
  }

  Status failed(Check& check, const std::string& where, const CallFailure& failure) {
    if (is_interruption(failure)) return fail(std::get<Error>(failure));
    if (const auto* error = std::get_if<Error>(&failure)) {
      add(check, where + error->message);
      return {};
    }
    ++deaths_;
    hung_ = std::get<Death>(failure).kind == Death::Kind::timed_out;
    add(check, as_error(failure, where + "running it").message + (hung_ ? " (--timeout)" : ""));
    return {};
  }

  void take(Check& check, const std::string& where, const process::Conform::Answer& answer) {
    check.looked_at += answer.looked_at;
    refusals_.merge(answer.refusals);
    for (const std::string& fault : answer.faults) add(check, where + sanitize(fault, 1000));
    ran_.insert(answer.ran.begin(), answer.ran.end());
  }

  // Of the refusals: the rule's own come first, and what only this kernel says last.
  std::string an_example() const {
    std::string example;
    for (const auto& [reason, refusal] : refusals_)
      example = fmt::format("; {}: {}", to_string(reason), sanitize(refusal.example, 400));
    return example;
  }

  static void add(Check& check, std::string fault) {
    if (check.faults.size() < kMostFaults) check.faults.push_back(std::move(fault));
  }

  Request request_;
  Observer& observer_;
  Crew crew_;
  ConformanceReport report_;
  std::set<std::string> ran_;
  RefusalCounts refusals_;
  size_t total_ = 0;  // Checks.
  int deaths_ = 0;
  bool hung_ = false;
};

}  // namespace

bool ConformanceReport::conforms() const {
  return std::all_of(checks.begin(), checks.end(),
                     [](const Check& check) { return check.faults.empty(); });
}

Result<ConformanceReport> check_conformance(const Request& request, Observer& observer) {
  return ConformanceStudy(request, observer).run();
}

}  // namespace assay::sweep
