#pragma once

// cutlass_profiler as a process: its output in a log, its report in a file, an end in any case.

#include <functional>
#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay::profiler {

struct ProcessOptions {
  std::string binary;  // As Subprocess looks for it.
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // "NAME=value", exactly these.
  std::string log;                       // A file that what it prints is added to.
  // It is stopped where neither its log nor its report has grown for so long.
  double silence_seconds = 120;
  int cancel_fd = -1;  // Readable: stopped; ErrorCode::interrupted.
};

// What a process left, however it ended.
struct ProcessResult {
  std::string failure;  // "exited with code 1: its last words"; empty where it ended well.
  std::string report;   // The CSV's text; empty where there is none.
  double seconds = 0;
};

// `rows`: told how many rows its report has, whenever that has changed. The report is asked for by
// --output in a folder of /tmp, since cutlass_profiler cuts paths at spaces, and puts ".gemm" in
// front of their ".csv". Errors: interrupted; machine: the disk, or a process cannot be started.
Result<ProcessResult> run_process(const ProcessOptions& options,
                                  const std::function<void(std::size_t)>& rows);

}  // namespace assay::profiler
