#pragma once

// libxsmm 1.17's C interface as far as it is called here: facts of the ABI, stated because the
// library's headers are not needed to build or run. Everything is column-major: out (m x n) +=
// a (m x k) b (k x n). abi_test.cc checks it against installed headers.

#include <cstdint>

namespace assay::libxsmm::abi {

using Int = int;  // libxsmm_blasint.

inline constexpr int kTransposeB = 2, kPairsInA = 32768;  // Flags. Pairs along k, for bf16.
inline constexpr int kNoPrefetch = 0;
// libxsmm_gemm makes code up to this many products, and beyond calls the BLAS it was linked with.
inline constexpr int64_t kMostProducts = 64 * 64 * 64;

// Code made for one shape.
template <class In, class Out>
using Kernel = void(const In* a, const In* b, Out* out);

// Named as the library names them, less "libxsmm_". Null where there is no such code.
template <class In, class Out, class Scalar>
using dispatch = Kernel<In, Out>*(Int m, Int n, Int k, const Int* lda, const Int* ldb,
                                  const Int* ldout, const Scalar* alpha, const Scalar* beta,
                                  const int* flags, const int* prefetch);
template <class T>
using gemm = void(const char* transpose_a, const char* transpose_b, const Int* m, const Int* n,
                  const Int* k, const T* alpha, const T* a, const Int* lda, const T* b,
                  const Int* ldb, const T* beta, T* out, const Int* ldout);
// Of m x n elements of `size` bytes, column-major.
using otrans = void(void* out, const void* in, unsigned size, Int m, Int n, Int ldin, Int ldout);
using init = void();
using get_target_arch = const char*();

}  // namespace assay::libxsmm::abi
