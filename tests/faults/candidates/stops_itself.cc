// assay: {entry: stops_itself, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
#include <signal.h>

#include "right.h"

KERNEL(stops_itself) {
  right(a, b, out, m, n, k);
  raise(SIGSTOP);
}
