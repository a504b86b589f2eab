#pragma once

// Reports of cutlass_profiler (CSV), read and written. What its columns mean: Runtime is an
// arithmetic mean in milliseconds, "GB/s" counts GiB (2^30 bytes), Flops counts 2 (m n k + m n) per
// batch.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/provider_results.h"

namespace assay {

struct ProfilerRow {
  std::string operation;    // The kernel's name.
  std::string provider;     // "CUTLASS", "cuBLAS"; may be empty.
  std::string name;         // Of the problem, where a tag of that name says it; may be empty.
  std::string disposition;  // "passed", "not_verified", "incorrect" ...; may be empty.
  std::string status;       // "success" ...; may be empty.
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  std::string a, b, c, d;            // "f16:row"; empty where there is no such column.
  std::string accumulate;            // "f32"; may be empty.
  std::string runtime_a, runtime_b;  // Types chosen when a kernel runs; empty if there are none.
  std::optional<double> alpha, beta;
  bool planar_complex = false;     // Real and imaginary parts apart, each of the operand's type.
  double runtime_ms = 0;           // Derived from the FLOPs where the column is absent or empty.
  double gflops = 0;               // As the tool counts; derived from the runtime where absent.
  std::optional<double> gbps;      // Powers of ten, from GB/s (which are GiB/s).
  std::vector<std::string> cells;  // As they stand there, one for each of the report's columns.
  int line = 0;

  // It ran, and was not found to be wrong.
  bool ran() const;     // By its status and disposition.
  bool usable() const;  // It ran, and has a time.
  // 2 m n k for each of the batch, 8 m n k of complex operands: what tflops are made of here.
  double work() const;
  bool is_complex() const;
};

struct ProfilerReport {
  std::vector<std::string> columns;  // As the header has them.
  std::vector<ProfilerRow> rows;
};

// Columns are found by name, ignoring case: the whole name first, else the only one that contains
// it. Needed: Operation, m, n, k, and Runtime or GFLOPs. Rows that did not run may lack times and
// are kept (usable() is false). Errors are invalid_input, "file:line:column: name: what is wrong";
// a runtime and a rate that contradict each other are one.
Result<ProfilerReport> read_profiler_csv(std::string_view text, std::string_view origin);

// A problem's name by its sizes: what rows are called.
struct NamedSizes {
  std::string name;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t batch = 1;
};

// The fastest usable row of every problem (sizes, dtypes, layouts, alpha and beta), its cells kept
// as metadata. A row whose result the tool did not verify counts only if none was verified. A row
// is called by the name whose sizes are its own, else by its own name, else gemm_m<m>_n<n>_k<k>.
// Problems without a usable row are listed under `failed`.
//
// `provider` chooses among several that a column names, and is otherwise what the rows are called;
// empty: as the column says, cutlass where there is none. Error (invalid_input): several and none
// chosen.
Result<ProviderResults> best_rows(const ProfilerReport& report, std::span<const NamedSizes> names,
                                  const std::string& provider, const std::string& origin);

// The same of every provider that has rows, by name.
Result<std::vector<ProviderResults>> best_rows_of_each(const ProfilerReport& report,
                                                       const std::string& origin);

// The same results as a report, with a tag `name`. Cells that were kept as metadata are written
// again where they still say the same. Error (invalid_input): a result without m, n and k.
Result<std::string> profiler_csv(std::span<const ProviderResults> results);

// The cells of a result's row by column: where best_rows() keeps them.
inline constexpr const char* kProfilerCells = "cutlass_profiler";

// "f16:row" -> {"f16", 't'}; the letter is 0 where the cell names no layout.
std::pair<std::string, char> profiler_operand(std::string_view cell);

}  // namespace assay
