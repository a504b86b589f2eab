#pragma once

// The main job: what is fastest for these problems on this machine, and what proves it.

#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/device/device_lock.h"
#include "assay/input/kernel_source.h"
#include "assay/kernel/family.h"
#include "assay/kernel/kernel_choice.h"
#include "assay/kernel/provider.h"
#include "assay/measure/condition.h"
#include "assay/op/problem.h"
#include "assay/process/messages/kernels.h"
#include "assay/record/record.h"

namespace assay::sweep {

// A provider to ask, under its own name or another: two copies of one library can race each other.
struct ProviderRequest {
  std::string name;
  std::string as;  // Empty: name.
  ProviderSettings settings;
  std::vector<std::string> recorded;  // Names of those that a record may hold (may_be_recorded()).
};

// A ranker to ask, with the library that it loads if that was given.
struct RankerRequest {
  std::string name;
  ProviderSettings settings;
};

enum class IfPresent : uint8_t {
  refuse,  // A journal in the run's folder is an error, and nothing is touched.
  resume,  // Go on where it stopped.
  fresh,   // Move the old run aside.
};

struct Request {
  std::string kind = "sweep";  // "sweep", "race" or "run": how the record calls it.
  std::vector<Problem> problems;
  std::string suite;
  std::string model;        // The config that the problems are made from; empty: none.
  int tensor_parallel = 1;  // As the record says (RunOptions).
  std::vector<ProviderRequest> providers;
  std::vector<input::KernelSource> kernels;  // What users brought, as it was read; names apart.
  // Of a race: the families of `kernels` whose verdict is wanted; empty: all. Where none of them is
  // proven right there is nothing to race for.
  std::vector<std::string> about;
  // Providers, as they are called here, whose kernels are timed in a process of their own, as a
  // user's are: what that changes is measured by copies of stock ones.
  std::vector<std::string> apart;
  std::string filter;
  std::vector<KernelChoice> only;  // A kernel takes part if each of these admits it, too.
  measure::ConditionRequest condition;
  measure::RaceClass race_class;
  std::string device;         // UUID of a GPU; empty: this machine's cores.
  std::string cuda_driver;    // The driver's library; empty: the system's.
  int threads = 0;            // 0: physical cores less one, at least one.
  double margin = 0.01;       // Fraction.
  double budget_seconds = 0;  // Of timing; 0: kSecondsPerProblem for each problem.
  bool exhaustive = false;    // No dropping: confirm every kernel that was proven.
  // Of kernels whose compile costs much (KernelTraits::compile_seconds), each provider's first in
  // this ranker's order are built for a problem, besides those that are in the cache, users' own,
  // and defaults.
  std::string ranker;                  // Empty: in the order in which they are listed.
  int build = 0;                       // So many; 0: all.
  std::vector<RankerRequest> rankers;  // All that are asked: the record has how each one did.
  bool confirm = true;                 // False for `run`: prove and time, no claim.
  int processes = 7;                   // Fresh processes of a confirmation, at least,
  int most_processes = 0;     // and at most (0: as most_processes() says): the plan chooses.
  bool count_events = false;  // Afterwards, also what the processor counts while finalists run.
  // With it, on a GPU: Nsight Compute's program, which looks at launches once nothing is timed any
  // more. Empty: the record says why there is none.
  std::string ncu, no_ncu;

  std::filesystem::path folder;  // Journal, logs and record; made if absent.
  IfPresent if_present = IfPresent::refuse;
  std::string store;  // Where the finished run is kept besides (store/store.h); empty: nowhere.
  std::filesystem::path cache;
  // Where confirmations are counted (earlier_confirmations.h); empty: they are not.
  std::string confirmations;
  std::string cxx = "c++";
  std::vector<std::string> command_line;
  std::vector<std::string> environment;  // For children: PATH, LD_LIBRARY_PATH ... exactly these.
  double trial_timeout_seconds = 20;     // A candidate's single answer; hangs end here.
  // Of one call of the compiler; what needs more is a build failure.
  double compile_timeout_seconds = CompileContext{}.timeout_seconds;
  // Of a worker, and of each process of a compiler (kLeastForCompilers); 0: half of the machine's.
  int64_t memory_limit_bytes = 0;
  std::string program = "/proc/self/exe";
  int cancel_fd = -1;        // Readable: stop, journal complete, ErrorCode::interrupted.
  DeviceLockOptions lock;    // Its cancel_fd is the one above.
  bool device_held = false;  // The caller has the device's lock, by hold_device() below.
};

inline constexpr double kSecondsPerProblem = 4;

// What the processes of one run share (stats::JudgeOptions), on a CPU: the ratios of 120 A/A races
// of `make bench` spread by 0.24 % (half of them beside a loaded core), where the spread of their
// processes explains 0.22. The rest is 0.10 %, of the idle ones 0.07 (results/zen5/same).
inline constexpr double kCpuSystematicError = 0.001;

// The same of two kernels in two processes of a company (bursts.h), each with a mapping, a stack
// and page tables of its own.
inline constexpr double kCpuSystematicErrorApart = 0.003;

// Of a confirmation, at most. What is between processes of a CPU is not beaten by rounds: as many
// as the time allows, up to 15. Those of a GPU differ by 0.1 to 0.3 % (docs/method.md), and each
// takes half a second to begin: the fewest.
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

// What each of request.kernels alone has for each of request.problems, in their orders; one process
// is asked.
Result<std::vector<std::vector<Discovery>>> discover_each_source(const Request& request);

// Of rows that take the problem, the ids of those that a race on such a GPU would build: the first
// request.build of the ranker's order, and what costs nothing that counts. What is compiled already
// is not looked for.
Result<std::set<std::string>> find_first(const Request& request, const Problem& problem,
                                         const std::string& target,
                                         std::span<const process::OfferedKernel> rows);
// Why the others are not, in a sentence's beginning.
std::string why_not_built(const Request& request);

// How the kernels of request.kernels do under the checks of verify/conformance.h, in a confined
// process that may crash. Errors: a file that cannot be loaded, or does not say what it offers
// (invalid_input).
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
