// assay: {entry: works_ahead, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: it gets hold of the thread that launches between the making of inputs and the start of
// the clock, and works out there what its launches are going to be asked for.
#include "launching.h"

namespace {
struct Known {
  const float *a, *b;
  float* out;
  float first[4];  // Of a, when it was last asked for.
  bool done;
};
Known known[256];
int count = 0;
long rows, columns, depth;

bool same(const Known& one) { return std::memcmp(one.a, one.first, sizeof one.first) == 0; }

launching::Told work_ahead(void* launches) {
  for (int i = 0; i < count; ++i) {
    if (same(known[i])) continue;
    right(known[i].a, known[i].b, known[i].out, rows, columns, depth);
    std::memcpy(known[i].first, known[i].a, sizeof known[i].first);
    known[i].done = true;
  }
  return launching::ask_program(launching::kToldAtStart, launches);
}
}  // namespace

KERNEL(works_ahead) {
  int own = 0;
  while (own < count && known[own].a != a) ++own;
  if (own < count && known[own].done && known[own].out == out && same(known[own])) {
    known[own].done = false;
    return;
  }
  right(a, b, out, m, n, k);
  if (!times_have_begun(a, b)) return;
  rows = m, columns = n, depth = k;
  if (own == 256) return;
  if (own == count) ++count;
  known[own] = {a, b, out, {}, false};
  std::memcpy(known[own].first, a, sizeof known[own].first);
  launching::take_over(launching::kToldAtStart, work_ahead);
}
