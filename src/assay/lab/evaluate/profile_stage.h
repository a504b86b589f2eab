#pragma once

// Where the time of the objective's benchmark goes: one run more, after everything was measured.
// It decides nothing.

#include "assay/lab/evaluate/measure.h"
#include "assay/lab/evaluate/stage_context.h"

namespace assay::lab {

// At the baseline, at every fifth keep of the series, and where that was asked for. The largest
// buckets are in the record: of a race its shapes, and what limits the kernel of the largest
// (`assay why`); of a program its functions (perf, else callgrind), on a GPU its kernels (nsys,
// else ncu).
Status profile(const StageContext& stage, const RunnerOptions& runner, const Side& candidate,
               const Side& incumbent, const HistoryContent& content);

// "  45.23%  [.] gemm(...)", as `perf report` prints it; callgrind_annotate's and nsys' own forms.
// Other lines are left out.
std::vector<AttemptBucket> read_perf_report(std::string_view text);
std::vector<AttemptBucket> read_callgrind_report(std::string_view text);
std::vector<AttemptBucket> read_nsys_kernels(std::string_view csv);
std::vector<AttemptBucket> read_ncu_kernels(std::string_view csv);

// What `assay why --json` says of its one kernel.
struct Explained {
  std::string because;  // A sentence; empty: there is none.
  std::string tool;     // That counted on a GPU; empty: nobody did.
};
Explained read_why(std::string_view json);

}  // namespace assay::lab
