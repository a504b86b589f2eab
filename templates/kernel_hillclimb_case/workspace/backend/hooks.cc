// To bring a kernel: put it into ops/cpp, declare it, give it a line of kHooks, and name that in
// backend/env.defaults.

#include "hooks.h"

#include <cstdlib>
#include <cstring>

void gemm(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k);

namespace {

struct Hook {
  const char* name;
  Gemm gemm;
};
constexpr Hook kHooks[] = {
    {"cpp_gemm", gemm},
};

}  // namespace

Gemm install_hooks() {
  const char* wanted = std::getenv("HOOK_GEMM");
  for (const Hook& hook : kHooks)
    if (wanted == nullptr || std::strcmp(hook.name, wanted) == 0) return hook.gemm;
  return nullptr;
}
