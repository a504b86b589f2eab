#pragma once

// Which system calls a process that runs candidates may not make.

#include <span>

#include "assay/process/call_filter.h"

namespace assay::sweep {

// Of all threads, from now on: to change limits, filters of system calls and how the process is
// scheduled, which would meet the kernels after it in its process; to start processes that are not
// this one's, or in namespaces of their own; to reach memory by ways that go past its rights; to
// keep memory where nobody counts it. Where the system has no filters, nothing changes.
struct Kept {
  std::span<const AddressRange> objects = {};  // Whose pages may not be dropped (a seal allows it),
  bool sealed = false;                         // nor mapped otherwise, where no seal sees to that.
  bool counts = false;                         // perf_event_open is kept.
  bool devices = false;                        // Their drivers may be asked for work.
};
void forbid_escaping(const Kept& kept = {});

}  // namespace assay::sweep
