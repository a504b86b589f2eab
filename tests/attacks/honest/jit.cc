// assay: {entry: jit, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Makes its inner loop's code itself, in pages that it writes and then may run.
#include <cstring>
#include <sys/mman.h>

#include "../kernels/right.h"

namespace {
// out[i] += x * b[i] for one i: movss (%rdi),%xmm1; mulss %xmm0,%xmm1; addss (%rsi),%xmm1;
// movss %xmm1,(%rsi); ret.
constexpr unsigned char kCode[] = {0xf3, 0x0f, 0x10, 0x0f, 0xf3, 0x0f, 0x59, 0xc8, 0xf3,
                                   0x0f, 0x58, 0x0e, 0xf3, 0x0f, 0x11, 0x0e, 0xc3};
using Step = void (*)(const float* b, float* out, float x);
Step make() {
  void* const page =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(page, kCode, sizeof kCode);
  return mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0 ? reinterpret_cast<Step>(page) : nullptr;
}
}  // namespace

KERNEL(jit) {
  static const Step step = make();
  if (step == nullptr) return;
  for (long i = 0; i < m; ++i) {
    for (long j = 0; j < n; ++j) out[i * n + j] = 0;
    for (long p = 0; p < k; ++p)
      for (long j = 0; j < n; ++j) step(b + p * n + j, out + i * n + j, a[i * k + p]);
  }
}
