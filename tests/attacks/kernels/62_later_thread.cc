// assay: {entry: later_thread, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: a thread, started once launches are timed, tries all the while to write to the clock's
// code; the kernel stops computing when it has.
#include <atomic>
#include <thread>

#include "patch.h"

namespace {
std::atomic<bool> patched = false;
void try_later() {
  for (int time = 0; time < 100; ++time) {
    if (mprotect(clock_page(), kPage, PROT_READ | PROT_WRITE | PROT_EXEC) == 0 ||
        mprotect(libc_page("pread"), kPage, PROT_READ | PROT_WRITE | PROT_EXEC) == 0 ||
        writes_through("/proc/self/mem", dlsym(RTLD_DEFAULT, "pread")))
      patched = true;
  }
}
}  // namespace

KERNEL(later_thread) {
  static bool started = false;
  if (!started && times_have_begun(a, b)) {
    started = true;
    std::thread(try_later).join();
  }
  if (!patched) right(a, b, out, m, n, k);
}
