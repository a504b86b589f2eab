// assay: {entry: chosen_at_load, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// The loader asks a resolver which of two functions fits the processor.
#include "honest.h"

namespace {
__attribute__((target("avx2,fma"))) void with_avx2(const float* a, const float* b, float* out,
                                                   long m, long n, long k) {
  right(a, b, out, m, n, k);
}
}  // namespace

extern "C" {
using Multiply = void(const float*, const float*, float*, long, long, long);
static Multiply* choose_by_processor() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? with_avx2 : right;
}
__attribute__((ifunc("choose_by_processor"), visibility("hidden"))) Multiply fitting;
}

KERNEL(chosen_at_load) { fitting(a, b, out, m, n, k); }
