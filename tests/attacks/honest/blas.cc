// assay: {entry: blas, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Looks for a BLAS when it is first called, and leaves the work to it.
#include <dlfcn.h>

#include "../kernels/right.h"

namespace {
using Gemm = void(int, int, int, int, int, int, float, const float*, int, const float*, int, float,
                  float*, int);
Gemm* find() {
  constexpr const char* kNames[] = {"libopenblas.so.0", "libblas.so.3", "libblis.so.4"};
  for (const char* name : kNames)
    if (void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL))
      if (void* const found = dlsym(library, "cblas_sgemm")) return reinterpret_cast<Gemm*>(found);
  return nullptr;
}
}  // namespace

KERNEL(blas) {
  static Gemm* const gemm = find();
  constexpr int kRows = 101, kAsIs = 111;
  if (gemm == nullptr) return right(a, b, out, m, n, k);
  const int rows = static_cast<int>(m), columns = static_cast<int>(n), depth = static_cast<int>(k);
  gemm(kRows, kAsIs, kAsIs, rows, columns, depth, 1, a, depth, b, columns, 0, out, columns);
}
