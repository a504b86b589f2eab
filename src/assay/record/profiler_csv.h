#pragma once

// Reports of cutlass_profiler (CSV). What its columns mean: Runtime is an arithmetic mean in
// milliseconds, "GB/s" counts GiB (2^30 bytes), Flops counts 2 (m n k + m n) per batch.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/provider_results.h"

namespace assay {

struct ProfilerRow {
  std::string operation;    // The kernel's name.
  std::string disposition;  // "passed", "not_verified", "incorrect" ...; may be empty.
  std::string status;       // "success" ...; may be empty.
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  std::string a, b, c, d;      // "f16:row"; empty where there is no such column.
  std::string accumulate;      // "f32"; may be empty.
  double runtime_ms = 0;       // Derived from the FLOPs where the column is absent or empty.
  double gflops = 0;           // Derived from the runtime where absent.
  std::optional<double> gbps;  // Powers of ten, from GB/s (which are GiB/s).
  int line = 0;

  // It ran, and was not found to be wrong.
  bool usable() const;
};

// Columns are found by name, ignoring case: the whole name first, else the only one that contains
// it. Needed: Operation, m, n, k, and Runtime or GFLOPs. Rows that did not run may lack times and
// are kept (usable() is false). Errors are invalid_input with file, line and column.
Result<std::vector<ProfilerRow>> read_profiler_csv(std::string_view text, std::string_view origin);

// A problem's name by its sizes: what rows are called.
struct NamedSizes {
  std::string name;
  std::int64_t m = 0, n = 0, k = 0;
};

// The fastest usable row of every problem (sizes, dtypes and layouts). A row is called by the name
// whose sizes are its own, else gemm_m<m>_n<n>_k<k>. Named problems without a usable row are listed
// under `failed`.
ProviderResults best_rows(std::span<const ProfilerRow> rows, std::span<const NamedSizes> names,
                          const std::string& provider, const std::string& origin);

}  // namespace assay
