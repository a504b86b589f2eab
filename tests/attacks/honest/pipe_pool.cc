// assay: {entry: pipe_pool, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// A helper that is woken by a byte in a pipe, and answers in another one.
#include <unistd.h>

#include "pool.h"

namespace {
int to_helper[2], to_caller[2];
Halves halves;

void help() {
  char byte;
  while (read(to_helper[0], &byte, 1) == 1) {
    halves.upper();
    if (write(to_caller[1], &byte, 1) != 1) return;
  }
}
bool start() { return pipe(to_helper) == 0 && pipe(to_caller) == 0 && start_helper(help); }
}  // namespace

KERNEL(pipe_pool) {
  static const bool started = start();
  halves.product = {a, b, out, m, n, k};
  char byte = 1;
  if (!started || write(to_helper[1], &byte, 1) != 1) return right(a, b, out, m, n, k);
  halves.lower();
  if (read(to_caller[0], &byte, 1) != 1) halves.upper();
}
