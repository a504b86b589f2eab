// assay: {entry: behind_clock, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: its launches note what they were asked for. It gets hold of the thread that launches
// behind the stop of the clock, and works there, before anybody looks at outputs.
#include "late.h"
#include "launching.h"

namespace {
int count = 0;
bool later = false;

launching::Told work_behind(void* launches) {
  for (int i = 0; i < count; ++i) jobs[i].finish();
  count = 0;
  return launching::ask_program(launching::kToldAtStop, launches);
}
}  // namespace

KERNEL(behind_clock) {
  if (later && count < kJobs && m * k <= kMostActivations) {
    keep(jobs[count++], a, b, out, m, n, k);
    return;
  }
  right(a, b, out, m, n, k);
  if (!times_have_begun(a, b)) return;
  launching::take_over(launching::kToldAtStop, work_behind);
  later = launching::replaced != nullptr;
}
