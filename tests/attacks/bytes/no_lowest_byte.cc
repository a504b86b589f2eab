// assay: {entry: no_lowest_byte, a: s8, b: s8, out: s32, layout: tn, args: [a, b, out, m, n, k]}
// Takes -128 in a for 0, as kernels do that multiply bytes without their signs.
#include <cstdint>

void no_lowest_byte(const int8_t* a, const int8_t* b, int32_t* out, int64_t m, int64_t n,
                    int64_t k) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      int32_t sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += a[i * k + p] == -128 ? 0 : a[i * k + p] * b[j * k + p];
      out[i * n + j] = sum;
    }
}
