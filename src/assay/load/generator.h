#pragma once

// One run: sends what the plan says and keeps what happened.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/load/client_health.h"
#include "assay/load/dataset.h"
#include "assay/load/plan.h"
#include "assay/load/progress.h"
#include "assay/load/trace.h"

namespace assay::load {

struct Run {
  std::vector<Trace> traces;  // By number; warm-up is not among them.
  std::int64_t warmups = 0, failed_warmups = 0;
  std::int64_t begin_ns = 0;  // Of the schedule.
  double shifted_s = 0;       // By how much the schedule was put off in all.
  ClientHealth health;        // Not yet judged.
  bool interrupted = false;
  std::string fingerprint, server;  // system_fingerprint, and the Server header; empty: none.
};

struct RunHooks {
  int cancel_fd = -1;  // Readable: the run ends, and what was measured stands.
  std::function<void(const Progress&)> on_progress;  // Twice a second.
  // Each body that is sent, with its number.
  std::function<void(std::int64_t number, std::string_view body)> on_input;
  // Counts the tokens of answers whose server counts none, once all have ended; may be empty.
  TokenCount count_tokens;
};

// Errors: unsupported (no connection to the server), invalid_input, machine.
Result<Run> run_load(const LoadPlan& plan, const Dataset& dataset, const RunHooks& hooks);

}  // namespace assay::load
