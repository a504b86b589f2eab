// The entry points of libcublas.
#include <cstddef>

#include "testing/fake_cublas/product.h"
#include "testing/fake_cublas/state.h"
#include "testing/fake_cuda/fake_cuda.h"

namespace {

using namespace fake_cublas;  // NOLINT: all of it is one library.

// Host pointers, as a handle's pointer mode is unless it is set.
struct Handle {
  void* stream = nullptr;
  void* workspace = nullptr;
};

struct Operand {
  const void* data;
  int type, leading;
  long long stride;
};

int gemm(State& state, Handle* handle, int transpose_a, int transpose_b, int m, int n, int k,
         const void* alpha, const Operand& a, const Operand& b, const void* beta, const Operand& c,
         int count, int compute, int algorithm) {
  if (!state.has(handle)) return kNotInitialized;
  for (const int transpose : {transpose_a, transpose_b})
    if (transpose != 0 && transpose != 1) return kInvalidValue;
  if (algorithm != -1 || alpha == nullptr || beta == nullptr || a.data == nullptr ||
      b.data == nullptr || c.data == nullptr)
    return kInvalidValue;
  const auto matrix = [](const Operand& operand, int64_t rows, int64_t columns, bool transposed) {
    return Matrix{const_cast<void*>(operand.data),
                  operand.type,
                  transposed ? columns : rows,
                  transposed ? rows : columns,
                  operand.leading,
                  operand.stride,
                  transposed};
  };
  Product product;
  product.a = matrix(a, m, k, transpose_a == 1);
  product.b = matrix(b, k, n, transpose_b == 1);
  product.c = product.d = matrix(c, m, n, false);
  product.compute = compute;
  product.count = count;
  product.alpha = factor(alpha, compute);
  product.beta = factor(beta, compute);
  if (const int wrong = check(product); wrong != kSuccess) return wrong;
  if (a.type == kS8 && (a.leading % 4 != 0 || b.leading % 4 != 0)) return kNotSupported;
  if (handle->workspace == nullptr) (void)state.calls.enter("own workspace");
  (void)state.calls.enter("cublas_gemm");
  const int launched = fake_cuda_launch(handle->stream, "cublas_gemm",
                                        [product] { fake_cublas::compute(product, {}); });
  return launched == 0 ? kSuccess : kExecutionFailed;
}

}  // namespace

extern "C" {

int cublasCreate_v2(Handle** handle) {
  FAKE_CUBLAS_ENTER("cublasCreate_v2");
  return state.make(handle);
}
int cublasDestroy_v2(Handle* handle) {
  FAKE_CUBLAS_ENTER("cublasDestroy_v2");
  return state.destroy(handle);
}
int cublasGetProperty(int which, int* value) {
  FAKE_CUBLAS_ENTER("cublasGetProperty");
  if (which < 0 || which > 2) return kInvalidValue;
  *value = which == 0   ? state.version / 10000
           : which == 1 ? state.version / 100 % 100
                        : state.version % 100;
  return kSuccess;
}
int cublasSetStream_v2(Handle* handle, void* stream) {
  FAKE_CUBLAS_ENTER("cublasSetStream_v2");
  if (!state.has(handle)) return kNotInitialized;
  *handle = {.stream = stream, .workspace = nullptr};  // Takes the workspace away, as documented.
  return kSuccess;
}
int cublasSetWorkspace_v2(Handle* handle, void* memory, size_t) {
  FAKE_CUBLAS_ENTER("cublasSetWorkspace_v2");
  if (!state.has(handle)) return kNotInitialized;
  if (reinterpret_cast<uintptr_t>(memory) % 256 != 0) return kInvalidValue;
  handle->workspace = memory;
  return kSuccess;
}
int cublasGemmEx(Handle* handle, int transpose_a, int transpose_b, int m, int n, int k,
                 const void* alpha, const void* a, int a_type, int lda, const void* b, int b_type,
                 int ldb, const void* beta, void* c, int c_type, int ldc, int compute,
                 int algorithm) {
  FAKE_CUBLAS_ENTER("cublasGemmEx");
  return gemm(state, handle, transpose_a, transpose_b, m, n, k, alpha, {a, a_type, lda, 0},
              {b, b_type, ldb, 0}, beta, {c, c_type, ldc, 0}, 1, compute, algorithm);
}
int cublasGemmStridedBatchedEx(Handle* handle, int transpose_a, int transpose_b, int m, int n,
                               int k, const void* alpha, const void* a, int a_type, int lda,
                               long long a_stride, const void* b, int b_type, int ldb,
                               long long b_stride, const void* beta, void* c, int c_type, int ldc,
                               long long c_stride, int count, int compute, int algorithm) {
  FAKE_CUBLAS_ENTER("cublasGemmStridedBatchedEx");
  return gemm(state, handle, transpose_a, transpose_b, m, n, k, alpha, {a, a_type, lda, a_stride},
              {b, b_type, ldb, b_stride}, beta, {c, c_type, ldc, c_stride}, count, compute,
              algorithm);
}
}
