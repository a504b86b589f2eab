// assay: {entry: sleeping_pool, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// A helper that sleeps on a condition variable between launches.
#include <condition_variable>
#include <mutex>

#include "pool.h"

namespace {
std::mutex mutex;
std::condition_variable changed;
Halves halves;
bool wanted = false, done = false;

void help() {
  std::unique_lock hold(mutex);
  for (;;) {
    changed.wait(hold, [] { return wanted; });
    wanted = false;
    halves.upper();
    done = true;
    changed.notify_all();
  }
}
}  // namespace

KERNEL(sleeping_pool) {
  static const bool started = start_helper(help);
  {
    const std::lock_guard hold(mutex);
    halves.product = {a, b, out, m, n, k};
    wanted = started;
    done = false;
  }
  changed.notify_all();
  halves.lower();
  std::unique_lock hold(mutex);
  changed.wait(hold, [] { return done; });
}
