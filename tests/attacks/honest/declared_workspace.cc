// assay:
//   entry: declared_workspace
//   dtype: f32
//   layout: tt
//   args: [a, b, out, m, n, k, workspace]
//   workspace: n * k * 4
// Declares its scratch: assay hands it over.
#include "honest.h"

extern "C" void declared_workspace(const float* a, const float* b, float* out, long m, long n,
                                   long k, float* workspace) {
  transpose(b, workspace, n, k);
  by_columns(a, workspace, out, m, n, k);
}
