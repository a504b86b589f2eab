#pragma once

// What a run is asked for, in parts: who takes part, what is raced, how hard it is tried, how much
// each may take, where, what is kept, and on whose behalf.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "assay/device/device_lock.h"
#include "assay/device/venue.h"
#include "assay/input/kernel_source.h"
#include "assay/kernel/family.h"
#include "assay/kernel/kernel_choice.h"
#include "assay/measure/condition.h"
#include "assay/op/problem.h"
#include "assay/process/messages/begin.h"
#include "assay/process/messages/kernels.h"

namespace assay::sweep {

// Who takes part, and which of their kernels are built.
struct Pool {
  // Two copies of one library can race each other, each under its name.
  std::vector<process::AskedProvider> providers;
  std::vector<std::string> recorded;         // "cublaslt.space": settings that a record may hold.
  std::vector<input::KernelSource> kernels;  // What users brought, as it was read; names apart.
  // Providers, as they are called here, whose kernels are timed in a process of their own, as a
  // user's are: what that changes is measured by copies of stock ones.
  std::vector<std::string> apart;
  std::string filter;
  std::vector<KernelChoice> only;  // A kernel takes part if each of these admits it, too.
  // Of kernels whose compile costs much (KernelTraits::compile_seconds), each provider's first in
  // this ranker's order are built for a problem, besides those that are in the cache, users' own,
  // and defaults.
  std::string ranker;                         // Empty: in the order in which they are listed.
  int build = 0;                              // So many; 0: all.
  std::vector<process::AskedRanker> rankers;  // The record has how each of these did.
  std::string cxx = "c++";                    // The compiler of users' sources.
};

// What is raced, and what is measured.
struct Question {
  std::string kind = "sweep";  // "sweep", "race" or "run": how the record calls it.
  std::vector<Problem> problems;
  std::string suite;        // What they are called together, as the record has it.
  std::string model;        // The config that they are made from; empty: none.
  int tensor_parallel = 1;  // Devices that share the model.
  // Of a race: the families of the pool's `kernels` whose verdict is wanted; empty: all. If none of
  // them is proven right, there is nothing to race for.
  std::vector<std::string> subjects;
  measure::ConditionRequest condition;
  measure::RaceClass race_class;
};

// How much is measured, and how small a difference counts.
struct Effort {
  double margin = 0.01;       // Fraction.
  double budget_seconds = 0;  // Of timing; 0: kSecondsPerProblem for each problem.
  bool exhaustive = false;    // No dropping: confirm every kernel that was proven.
  bool confirm = true;        // False for `run`: prove and time, no claim.
  int processes = 7;          // Fresh processes of a confirmation, at least,
  int most_processes = 0;     // and at most (0: as most_processes() says): the plan chooses.
  bool count_events = false;  // Afterwards, also what the processor counts while finalists run.
  // With it, on a GPU: Nsight Compute's program, which looks at launches once nothing is timed any
  // more. Empty: the record says why there is none.
  std::string ncu, no_ncu;
};

// What one process may take.
struct Limits {
  double trial_seconds = 20;  // A candidate's single answer; hangs end here.
  // One call of the compiler; what needs more is a build failure.
  double compile_seconds = CompileContext{}.timeout_seconds;
  // A worker, and each process of a compiler (kLeastForCompilers); 0: half of the machine's.
  int64_t memory_bytes = 0;
};

enum class IfPresent : uint8_t {
  refuse,  // A journal in the run's folder is an error, and nothing is touched.
  resume,  // Go on where it stopped.
  fresh,   // Move the old run aside.
};

// What is kept, and where.
struct Keep {
  std::filesystem::path folder;  // Journal, logs and record; made if absent.
  IfPresent if_present = IfPresent::refuse;
  std::string store;  // Where the finished run is kept besides (store/store.h); empty: nowhere.
  std::filesystem::path cache;  // Compiled kernels.
  // Where confirmations are counted (earlier_confirmations.h); empty: they are not.
  std::string confirmations;
};

// Who asks, and what our processes are started with.
struct Caller {
  std::vector<std::string> command_line;
  std::vector<std::string> environment;  // For children: PATH, LD_LIBRARY_PATH ... exactly these.
  std::string program = "/proc/self/exe";
  int cancel_fd = -1;        // Readable: stop, journal complete, ErrorCode::interrupted.
  DeviceLockOptions lock;    // Its cancel_fd is the one above.
  bool device_held = false;  // The caller has the device's lock, by hold_device().
};

struct Request {
  Question question;
  Pool pool;
  Effort effort;
  Limits limits;
  Venue venue;
  Keep keep;
  Caller caller;
};

}  // namespace assay::sweep
