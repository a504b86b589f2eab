// assay: {entry: of_another, operation: rmsnorm, dtype: f32, args: [x, w, out, m, n, epsilon]}

#include <cstdint>

void of_another(const float*, const float*, float*, int64_t, int64_t, float) {}
