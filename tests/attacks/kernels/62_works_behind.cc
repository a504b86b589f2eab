// assay: {entry: works_behind, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: its launches note what they were asked for. It gets hold of the thread that launches
// behind the stop of the clock, and works there, before anybody looks at outputs.
#include "late.h"
#include "launching.h"

namespace {
int count = 0;

launching::Told work_behind(void* launches) {
  for (int i = 0; i < count; ++i) jobs[i].finish();
  count = 0;
  return launching::ask_program(launching::kToldAtStop, launches);
}
}  // namespace

KERNEL(works_behind) {
  const bool later = times_have_begun(a, b) && count < kJobs && m * k <= kMostActivations &&
                     launching::take_over(launching::kToldAtStop, work_behind);
  if (later)
    keep(jobs[count++], a, b, out, m, n, k);
  else
    right(a, b, out, m, n, k);
}
