#pragma once

// What a run leaves: assay.load/1, and the samples from which its figures come.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/load/delivered.h"
#include "assay/load/generator.h"
#include "assay/load/metrics.h"
#include "assay/record/environment.h"

namespace assay::load {

inline constexpr std::string_view kLoadSchema = "assay.load/1";

// One run, judged.
struct Judged {
  Metrics metrics;
  Delivered delivered;
  ClientHealth client;
  bool interrupted = false;
  std::int64_t warmups = 0, failed_warmups = 0;
  std::string fingerprint, server;
};

Judged judge_run(const LoadPlan& plan, const Run& run, std::span<const Objective> objectives,
                 const Percentiles& percentiles = {});

// The members of a run that differ from run to run: requests, metrics, tokens, delivered, client.
Json judged_json(const Judged& judged);

// 0 stands for "never" in a trace, and a run begins at 0 in its samples: traces that are read have
// this offset, which no run reaches.
inline constexpr std::int64_t kKeptBegin = std::int64_t{1} << 60;

// Traces as lines of JSON, times in ns from begin_ns.
std::string trace_line(const Trace& trace, std::int64_t begin_ns);
Result<Trace> read_trace(const JsonField& line);

}  // namespace assay::load
