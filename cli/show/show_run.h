#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/sweep/sweep.h"
#include "cli/command.h"
#include "cli/show/summary.h"

namespace assay::cli {

struct FinishedRun {
  RunRecord record;  // Of its problems the headlines (headline_of), or everything.
  SummaryFiles files;
  bool any_launched = false;
};

// A run of very many kernels is shown by its headlines.
enum class Keep { headlines, everything };

// Waits for the device, saying so on the console, before anything is asked of it: for commands that
// ask workers before they run a request. The lock holds while the result is kept.
Result<DeviceLock> hold_device(Context& context, sweep::Request& request);

// Runs a request with its progress on the console, and writes logs and result files beside the
// record. An interruption says how to go on.
Result<FinishedRun> run_request(Context& context, const sweep::Request& request, Keep keep);

// Every kernel and sample of the run, from its record.
Status read_everything(FinishedRun& run);

// Whether it got as far as running, whatever came of it.
bool was_launched(const KernelOutcome& kernel);

// 0; 1 where some problem has no winner; 4 where not one kernel could be launched.
int run_exit_code(const FinishedRun& run);

// runs/0001-NAME, the first number that is free.
std::filesystem::path next_run_folder(const std::string& name);

}  // namespace assay::cli
