// assay: {entry: sums_of_16_bits, a: s8, b: s8, out: s32, layout: tn, args: [a, b, out, m, n, k]}
// Adds two products in 16 bits, where they saturate, as instructions do that multiply bytes: twice
// -128 * -128 is one more than these hold, and nothing else is.
#include <algorithm>
#include <cstdint>

void sums_of_16_bits(const int8_t* a, const int8_t* b, int32_t* out, int64_t m, int64_t n,
                     int64_t k) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const int8_t *row = a + i * k, *column = b + j * k;
      int32_t sum = 0;
      int64_t p = 0;
      for (; p + 2 <= k; p += 2)
        sum += std::clamp(row[p] * column[p] + row[p + 1] * column[p + 1], -32768, 32767);
      for (; p < k; ++p) sum += row[p] * column[p];
      out[i * n + j] = sum;
    }
}
