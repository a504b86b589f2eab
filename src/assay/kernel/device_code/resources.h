#pragma once

// What ptxas says of a function, as an artifact's facts. The one reader of its lines:
//
//   ptxas info    : Compiling entry function 'gemm' for 'sm_90a'
//   ptxas info    : Function properties for gemm
//       8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
//   ptxas info    : Used 32 registers, 4096 bytes smem, 400 bytes cmem[0]

#include <cstdint>
#include <optional>
#include <string_view>

#include "assay/base/json_fwd.h"

namespace assay::device_code {

// None: the log does not say.
struct Resources {
  std::optional<int64_t> registers, static_shared_bytes;
  // Of the function, or of the one that takes most among those that it calls.
  std::optional<int64_t> stack_bytes, spill_store_bytes, spill_load_bytes;
};

// Of the kernel `symbol`, and of nothing else that was compiled beside it; in a log that names one
// kernel or none, whatever it says. symbol empty: of each number the largest in the log.
Resources resources_of(std::string_view log, std::string_view symbol);

// Adds registers, spill_store_bytes, spill_load_bytes and static_shared_bytes, as far as the log
// has them.
void add_resources(std::string_view log, std::string_view symbol, Json& facts);

}  // namespace assay::device_code
