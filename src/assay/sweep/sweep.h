#pragma once

// The main job: what is fastest for these problems on this machine, and what proves it.

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/device/device_lock.h"
#include "assay/kernel/provider.h"
#include "assay/measure/condition.h"
#include "assay/op/problem.h"
#include "assay/process/messages/kernels.h"
#include "assay/record/record.h"
#include "assay/sweep/request.h"

namespace assay::sweep {

inline constexpr double kSecondsPerProblem = 4;

// What the processes of one run share (stats::JudgeOptions), on a CPU: the ratios of 120 A/A races
// of `make bench` spread by 0.24 % (half of them beside a loaded core), where the spread of their
// processes explains 0.22. The rest is 0.10 %, of the idle ones 0.07 (results/zen5/same).
inline constexpr double kCpuSystematicError = 0.001;

// The same of two kernels in two processes of a company (bursts.h), each with a mapping, a stack
// and page tables of its own: the ratios of 90 A/A races spread by 0.28 %, where the spread of
// their processes explains 0.21. The rest is 0.18 % (results/emerald_rapids/same).
inline constexpr double kCpuSystematicErrorApart = 0.002;

// Processes of a confirmation, at most: as the request says, else as its venue does
// (venue_rules.h).
int most_processes(const Request& request);
// Of one that is extended since its processes lie far apart (stats::further_processes): twice as
// many, where the plan may choose at all.
int most_extended(const Request& request);

// Where nobody says, so many of each provider are built for a problem: twice the eight of recall@8
// (record/ranking.h). At 45 s of one core each, CUTLASS's are twelve minutes of one core.
inline constexpr int kBuildAtMost = 16;

// How a kernel stands while the race runs.
struct Standing {
  std::string label;
  KernelRole role = KernelRole::stock;
  double median_us = 0;
  double ratio = 1;       // Leader's time over this one's: below 1 it is behind.
  double error = 0;       // Standard error of log(ratio).
  int dropped_after = 0;  // Rounds; 0 while it runs.
};

// What a screen may show. One call at a time, from any thread of the run; must not throw.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_begin(const Environment&, const std::vector<Problem>&) {}
  // What shares are of: those that earlier runs left, then those of this one.
  virtual void on_ceilings(const std::vector<Ceiling>&) {}
  virtual void on_problem(size_t /*index*/, const Problem&, const measure::Condition&) {}
  virtual void on_stage(const std::string& /*stage*/, size_t /*done*/, size_t /*total*/,
                        const std::string& /*what*/) {}
  virtual void on_standings(int /*round*/, const std::vector<Standing>&) {}
  virtual void on_problem_done(size_t /*index*/, const ProblemRecord&, bool /*from_journal*/) {}
  virtual void on_note(const std::string& /*sentence*/) {}
};

// The lock of the request's device, once nobody else measures on it: what measures holds it from
// before its first worker to its end. What would end the run anyway (a run in its folder) ends it
// before it waits.
Result<DeviceLock> hold_device(const Request& request, const DeviceWaitObserver& observer);

// Runs to the end, or to an interruption (then the journal holds all that was finished, and
// ErrorCode::interrupted is returned). record.json is written into the folder. Holds the device
// meanwhile, unless the caller does. The problems that are returned are headlines
// (record.h: headline_of); the observer is shown each one whole, and load_record() reads them.
Result<RunRecord> run(const Request& request, Observer& observer);

// Rows that the providers offer, found in a worker as `run` would: for `assay kernels`. Null
// problem: everything. Null target: this machine's.
struct Discovery {
  std::vector<process::OfferedKernel> rows;
  RefusalCounts refusals;
  std::map<std::string, std::string> missing;  // Provider -> why.
};
Result<Discovery> discover(const Request& request, const Problem* problem,
                           const std::string& target);

// What each of request.pool.kernels alone has for each of request.question.problems, in their
// orders; one process is asked.
Result<std::vector<std::vector<Discovery>>> discover_each_source(const Request& request);

// Of rows that take the problem, the ids of those that a race on such a GPU would build: the first
// request.pool.build of the ranker's order, and what costs nothing that counts. What is compiled
// already is not looked for.
Result<std::set<std::string>> find_first(const Request& request, const Problem& problem,
                                         const std::string& target,
                                         std::span<const process::OfferedKernel> rows);
// Why the others are not, in a sentence's beginning.
std::string why_not_built(const Request& request);

// How the kernels of request.pool.kernels do under the checks of verify/conformance.h, in a
// confined process that may crash. Errors: a file that cannot be loaded, or does not say what it
// offers (invalid_input).
struct ConformanceReport {
  struct Check {
    std::string name, what, unit;
    std::vector<std::string> faults;  // Empty: passed.
    int64_t looked_at = 0;            // Of the unit; 0: nothing applied.
  };
  std::vector<Check> checks;
  int64_t kernels = 0;  // Rows.
  int64_t ran = 0;      // Of them, those that some problem reached.
  bool conforms() const;
};
Result<ConformanceReport> check_conformance(const Request& request, Observer& observer);

// What each provider has on this machine, asked in a worker: for `assay providers` and `doctor`.
struct ProviderReport {
  std::string name;
  ProviderRole role = ProviderRole::user;
  Availability availability;
};
struct RankerReport {
  std::string name;
  Availability availability;
};
struct MachineReport {
  std::vector<ProviderReport> providers;
  std::vector<RankerReport> rankers;  // Those of the request.
  Environment environment;
  std::string target;
  // How far kernels would be confined; where that was not asked, the reason is empty.
  TrustGrade trust = TrustGrade::unconfined_native;
  std::string trust_reason;
  std::string not_measured;  // Why there are no ceilings: somebody else measures on the device.
};
// How much is found out. thorough: starts a confined process too, and measures ceilings, while
// nobody else measures. renewing: ceilings that were kept of earlier runs count no more.
enum class Inspection : uint8_t { brief, thorough, renewing };
Result<MachineReport> inspect(const Request& request, Inspection how);

}  // namespace assay::sweep
