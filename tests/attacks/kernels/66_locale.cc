// assay: {entry: locale, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 66: an initialiser changes what a number looks like.
#include <clocale>

#include "right.h"

namespace {
const char* const once = std::setlocale(LC_ALL, "C.UTF-8");
}  // namespace

KERNEL(locale) { right(a, b, out, m, n, k); }
