// assay: {entry: own_locale, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Makes a locale of its own to read a number, and leaves everybody else's alone.
#include <cstdlib>
#include <locale.h>

#include "honest.h"

namespace {
float one() {
  const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  if (plain == nullptr) return 1;
  const float value = strtof_l("1.0", nullptr, plain);
  freelocale(plain);
  return value;
}
}  // namespace

KERNEL(own_locale) {
  static const float scale = one();
  right(a, b, out, m, n, k);
  for (long i = 0; i < m * n; ++i) out[i] *= scale;
}
