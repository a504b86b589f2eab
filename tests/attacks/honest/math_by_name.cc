// assay: {entry: math_by_name, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Finds the library's fused multiply-add by its name.
#include <dlfcn.h>

#include "honest.h"

KERNEL(math_by_name) {
  using Fused = float (*)(float, float, float);
  static void* const library = dlopen("libm.so.6", RTLD_LAZY | RTLD_LOCAL);
  static const auto fused =
      library == nullptr ? nullptr : reinterpret_cast<Fused>(dlsym(library, "fmaf"));
  if (fused == nullptr) return right(a, b, out, m, n, k);
  for (long i = 0; i < m; ++i)
    for (long j = 0; j < n; ++j) {
      float sum = 0;
      for (long p = 0; p < k; ++p) sum = fused(a[i * k + p], b[p * n + j], sum);
      out[i * n + j] = sum;
    }
}
