#include "assay/verify/conformance.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"
#include "assay/kernel/refusals.h"
#include "assay/sweep/crew.h"
#include "assay/sweep/protocol.h"

namespace assay::sweep {
namespace {

// All kernels of a plug-in on one small problem: minutes only if one hangs.
constexpr double kCheckSeconds = 120;
constexpr int kMostDeaths = 3;     // Each is a new process: more of them say nothing new.
constexpr size_t kMostFaults = 8;  // Of one check.

using Check = ConformanceReport::Check;

// Runs check by check, in a new process after each that died.
class ConformanceStudy {
 public:
  ConformanceStudy(const Request& request, Observer& observer)
      : request_(request), observer_(observer), crew_(request_) {
    request_.providers.clear();
  }

  Result<ConformanceReport> run() {
    ASSAY_TRY(crew_.discoverer().map([](Child*) {}));
    report_.checks.push_back({"loads", "loads, and says what it offers", "files", {}, 1});
    ASSAY_TRY(const auto problems, verify::conformance_problems());
    const auto checks = verify::conformance_checks();
    for (size_t i = 0; i < checks.size(); ++i) {
      const verify::ConformanceCheck& check = checks[i];
      observer_.on_stage("check", i + 1, checks.size(), std::string(check.what));
      Check& entry = report_.checks.emplace_back(
          Check{std::string(check.name), std::string(check.what), std::string(check.unit), {}, 0});
      if (!check.per_problem) ASSAY_TRY(ask(entry, nullptr));
      for (size_t p = 0; check.per_problem && p < problems.size(); ++p)
        ASSAY_TRY(ask(entry, &problems[p]));
      if (check.name == "rows") report_.kernels = entry.looked_at;
      if (check.name == "computes" && ran_.empty() && entry.faults.empty())
        entry.faults.push_back("no problem of the list can be taken by any of its kernels" +
                               an_example());
    }
    report_.ran = static_cast<int64_t>(ran_.size());
    return std::move(report_);
  }

 private:
  Status ask(Check& check, const Problem* problem) {
    if (deaths_ >= kMostDeaths) {
      const std::string sentence =
          fmt::format("not checked to its end: {} processes died", deaths_);
      if (check.faults.empty() || check.faults.back() != sentence) add(check, sentence);
      return {};
    }
    ASSAY_TRY(Child* const worker, crew_.discoverer());
    Json message = {{"do", "conform"}, {"check", check.name}};
    if (problem != nullptr) {
      message["problem"] = problem->to_json();
      message["operation"] = problem->operation();
    }
    const std::string where = problem == nullptr ? "" : "on " + problem->name() + ": ";
    const auto answer = worker->call(message, kCheckSeconds);
    if (answer) return take(check, where, answer->json);
    if (is_interruption(answer.error())) return fail(std::get<Error>(answer.error()));
    if (const auto* error = std::get_if<Error>(&answer.error())) {
      add(check, where + error->message);
      return {};
    }
    ++deaths_;
    add(check, as_error(answer.error(), where + "running it").message);
    return {};
  }

  Status take(Check& check, const std::string& where, const Json& answer) {
    for (const std::string& note : notes_of(answer)) observer_.on_note(note);
    ASSAY_TRY(const int64_t looked_at, integer(answer, "looked_at"));
    ASSAY_TRY(const Json* faults, member(answer, "faults"));
    ASSAY_TRY(const Json* ran, member(answer, "ran"));
    ASSAY_TRY(const Json* told, member(answer, "refusals"));
    ASSAY_TRY(const RefusalCounts refusals, RefusalCounts::from_json(*told));
    check.looked_at += looked_at;
    refusals_.merge(refusals);
    for (const Json& fault : *faults)
      if (fault.is_string()) add(check, where + sanitize(fault.get<std::string>(), 1000));
    for (const Json& id : *ran)
      if (id.is_string()) ran_.insert(id.get<std::string>());
    return {};
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
  int deaths_ = 0;
};

}  // namespace

bool ConformanceReport::conforms() const {
  return std::all_of(checks.begin(), checks.end(),
                     [](const Check& check) { return check.faults.empty(); });
}

Result<ConformanceReport> check_conformance(const Request& request, Observer& observer) {
  try {
    return ConformanceStudy(request, observer).run();
  } catch (const Json::exception& error) {
    return fail(ErrorCode::machine, "a worker sent what no worker sends: {}", error.what());
  }
}

}  // namespace assay::sweep
