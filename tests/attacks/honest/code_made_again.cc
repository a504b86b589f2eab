// assay: {entry: code_made_again, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Writes its inner loop's code anew for each launch: pages that may be written, then run, then
// written again.
#include <cstring>
#include <sys/mman.h>

#include "honest.h"

namespace {
// out[i] += x * b[i] for one i: movss (%rdi),%xmm1; mulss %xmm0,%xmm1; addss (%rsi),%xmm1;
// movss %xmm1,(%rsi); ret.
constexpr unsigned char kCode[] = {0xf3, 0x0f, 0x10, 0x0f, 0xf3, 0x0f, 0x59, 0xc8, 0xf3,
                                   0x0f, 0x58, 0x0e, 0xf3, 0x0f, 0x11, 0x0e, 0xc3};
using Step = void (*)(const float* b, float* out, float x);
}  // namespace

KERNEL(code_made_again) {
  static void* const page =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED || mprotect(page, 4096, PROT_READ | PROT_WRITE) != 0)
    return right(a, b, out, m, n, k);
  memcpy(page, kCode, sizeof kCode);
  if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0) return right(a, b, out, m, n, k);
  const auto step = reinterpret_cast<Step>(page);
  for (long i = 0; i < m; ++i) {
    for (long j = 0; j < n; ++j) out[i * n + j] = 0;
    for (long p = 0; p < k; ++p)
      for (long j = 0; j < n; ++j) step(b + p * n + j, out + i * n + j, a[i * k + p]);
  }
}
