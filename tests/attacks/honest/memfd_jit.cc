// assay: {entry: memfd_jit, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Like jit, in a memory file that is mapped twice: once to be written, once to be run.
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#include "../kernels/right.h"

namespace {
constexpr unsigned char kCode[] = {0xf3, 0x0f, 0x10, 0x0f, 0xf3, 0x0f, 0x59, 0xc8, 0xf3,
                                   0x0f, 0x58, 0x0e, 0xf3, 0x0f, 0x11, 0x0e, 0xc3};
using Step = void (*)(const float* b, float* out, float x);
Step make() {
  const int file = memfd_create("jit", 0);
  if (file < 0 || ftruncate(file, 4096) != 0) return nullptr;
  void* const writable = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  memcpy(writable, kCode, sizeof kCode);
  void* const runnable = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
  return runnable != MAP_FAILED ? reinterpret_cast<Step>(runnable) : nullptr;
}
}  // namespace

KERNEL(memfd_jit) {
  static const Step step = make();
  if (step == nullptr) return;
  for (long i = 0; i < m; ++i) {
    for (long j = 0; j < n; ++j) out[i * n + j] = 0;
    for (long p = 0; p < k; ++p)
      for (long j = 0; j < n; ++j) step(b + p * n + j, out + i * n + j, a[i * k + p]);
  }
}
