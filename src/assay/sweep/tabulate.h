#pragma once

// What a run found, as a tuned table: winners, the code that they are made of, and where it was.

#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/record.h"
#include "assay/select/table_contents.h"
#include "assay/sweep/sweep.h"

namespace assay::sweep {

struct Tabulated {
  TableContents contents;
  std::vector<std::string> left_out;  // "m4_up: no kernel won", a sentence each.
};

// `record`: of a finished run of `request`, with its kernels (load_record(), not headlines). The
// choices of a problem are its winner, then the other kernels that were confirmed by their times.
// Compiled code is fetched from the cache by a worker, which makes what is gone again; code that is
// not what ran is an error (stale).
Result<Tabulated> tabulate(const Request& request, const RunRecord& record);

}  // namespace assay::sweep
