// assay: {entry: many_threads, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// A thread for each launch, which is joined.
#include <thread>

#include "../kernels/right.h"

KERNEL(many_threads) { std::thread(right, a, b, out, m, n, k).join(); }
