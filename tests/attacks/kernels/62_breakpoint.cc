// assay: {entry: breakpoint, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: a breakpoint of the processor's where the clock is read.
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

#include "patch.h"

namespace {
bool breaks() {
  perf_event_attr event{};
  event.type = PERF_TYPE_BREAKPOINT;
  event.size = sizeof event;
  event.bp_type = HW_BREAKPOINT_X;
  event.bp_addr = reinterpret_cast<uintptr_t>(clock_page());
  event.bp_len = sizeof(long);
  event.disabled = event.exclude_kernel = event.exclude_hv = 1;
  return syscall(SYS_perf_event_open, &event, 0, -1, -1, 0) >= 0;
}
}  // namespace

PATCHING_KERNEL(breakpoint, breaks())
