#pragma once

// The same run under another tool's names and definitions, so that figures can be held side by
// side.

#include <span>
#include <string>
#include <string_view>

#include "assay/base/json.h"
#include "assay/load/metrics.h"
#include "assay/load/trace.h"

namespace assay::load {

enum class OtherTool { vllm, aiperf, guidellm };

// vllm: mean_ttft_ms, p99_itl_ms ... of `vllm bench serve`; aiperf: time_to_first_token {avg, p50
// ...} of its JSON; guidellm: time_to_first_token_ms.successful {mean, median, percentiles}. Only
// fields that the run's samples can fill.
Json as_other_tool(OtherTool tool, std::span<const Trace> traces);

}  // namespace assay::load
