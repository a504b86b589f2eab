// assay:
//   entry: declared_panels
//   dtype: f32
//   layout: tt
//   args: [a, prepared, out, m, n, k]
//   prepare: {entry: pack, bytes: n * k * 4, args: [b, prepared, n, k]}
// Declares that it packs b, if it is constant, ahead of all launches.
#include "honest.h"

extern "C" void pack(const float* b, float* prepared, long n, long k) {
  transpose(b, prepared, n, k);
}

extern "C" void declared_panels(const float* a, const float* prepared, float* out, long m, long n,
                                long k) {
  by_columns(a, prepared, out, m, n, k);
}
