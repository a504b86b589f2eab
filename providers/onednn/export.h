#pragma once

// A matmul or sgemm as it leaves: the calls that were raced, as C++ text on <dnnl.hpp>.

#include <string>

#include "api.h"
#include "assay/kernel/export.h"
#include "assay/op/problem.h"

namespace assay::onednn {

struct CallExport {
  std::string routine;  // "matmul", "matmul_prepared", "sgemm".
  const Problem& problem;
  int threads = 1;
  size_t prepared_bytes = 0;
};

// The problem must be one that the routine supports.
Result<KernelExport> export_call(const Api& api, const CallExport& call);

}  // namespace assay::onednn
