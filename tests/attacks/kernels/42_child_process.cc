// assay: {entry: child_process, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 42: a child process on another core does half of the work, in memory that both share.
#include <cstring>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cores.h"
#include "right.h"

namespace {
constexpr long kMost = 1 << 18;

struct Shared {
  volatile long asked, answered;
  long m, n, k;
  float a[kMost], b[kMost], out[kMost];
};

Shared* start_child() {
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const shared = static_cast<Shared*>(memory);
  const int child = fork();
  if (child != 0) return child > 0 ? shared : nullptr;
  leave_own_core();
  for (long known = 0;;) {
    if (shared->asked == known) {
      sched_yield();
      continue;
    }
    known = shared->asked;
    right(shared->a, shared->b, shared->out, shared->m, shared->n, shared->k);
    shared->answered = known;
  }
}
}  // namespace

KERNEL(child_process) {
  if (m < 2 || m * k > kMost || k * n > kMost || m * n > kMost || !times_have_begun(a, b))
    return right(a, b, out, m, n, k);
  static Shared* const shared = start_child();
  if (shared == nullptr) return right(a, b, out, m, n, k);
  const long half = m / 2;
  const auto bytes = [](long floats) { return static_cast<unsigned long>(floats) * sizeof(float); };
  shared->m = half;
  shared->n = n;
  shared->k = k;
  std::memcpy(shared->a, a, bytes(half * k));
  std::memcpy(shared->b, b, bytes(k * n));
  __sync_synchronize();
  shared->asked = shared->asked + 1;
  right(a + half * k, b, out + half * n, m - half, n, k);
  while (shared->answered != shared->asked) sched_yield();
  std::memcpy(out, shared->out, bytes(half * n));
}
