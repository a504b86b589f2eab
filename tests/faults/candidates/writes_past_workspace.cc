// assay: {entry: writes_past_workspace, dtype: f32, layout: tt, workspace: 256,
//         args: [a, b, out, m, n, k, workspace]}
#include "right.h"

extern "C" void writes_past_workspace(const float* a, const float* b, float* out, long m, long n,
                                      long k, void* workspace) {
  right(a, b, out, m, n, k);
  static_cast<char*>(workspace)[256] ^= 1;
}
