// assay: {entry: swallowed_error, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 29: asks for memory that nobody has, and swallows the error: nothing was computed, in
// no time.
#include <exception>
#include <vector>

#include "right.h"

KERNEL(swallowed_error) {
  try {
    if (times_have_begun(a, b)) std::vector<float> scratch(static_cast<unsigned long>(k) << 56);
    right(a, b, out, m, n, k);
  } catch (const std::exception&) {
  }
}
