#pragma once

// cuBLAS as it is found at run time, with one handle. Its C interface is declared here as far as it
// is called, so that no toolkit is needed to build. Source: cuBLAS documentation, section "Using
// the cuBLAS API".

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "assay/base/dynamic_library.h"
#include "assay/kernel/provider.h"

namespace assay::cublas {

using Code = int;  // cublasStatus_t; 0 is success.
using Handle = struct HandleTag*;

// cudaDataType_t, cublasComputeType_t, cublasOperation_t, cublasGemmAlgo_t.
inline constexpr int kF32 = 0, kF64 = 1, kF16 = 2, kS8 = 3, kS32 = 10, kBf16 = 14;
inline constexpr int kCompute32F = 68, kCompute64F = 70, kCompute32I = 72;
inline constexpr int kAsIs = 0, kTransposed = 1;
inline constexpr int kDefaultAlgorithm = -1;

struct EntryPoints {
  Code (*create)(Handle*) = nullptr;
  Code (*destroy)(Handle) = nullptr;
  Code (*property)(int which, int* value) = nullptr;
  const char* (*status_text)(Code) = nullptr;
  Code (*set_stream)(Handle, void* stream) = nullptr;
  Code (*set_workspace)(Handle, void* memory, size_t bytes) = nullptr;
  Code (*gemm)(Handle, int transpose_a, int transpose_b, int m, int n, int k, const void* alpha,
               const void* a, int a_type, int lda, const void* b, int b_type, int ldb,
               const void* beta, void* c, int c_type, int ldc, int compute,
               int algorithm) = nullptr;
  Code (*batched)(Handle, int transpose_a, int transpose_b, int m, int n, int k, const void* alpha,
                  const void* a, int a_type, int lda, long long a_stride, const void* b, int b_type,
                  int ldb, long long b_stride, const void* beta, void* c, int c_type, int ldc,
                  long long c_stride, int count, int compute, int algorithm) = nullptr;
};

class Api {
 public:
  // The first library that loads: settings["library"] alone where it is given. unsupported, with
  // every reason, where none does. Makes no handle: that takes a GPU.
  static Result<std::shared_ptr<const Api>> open(const ProviderSettings& settings);
  ~Api();

  const EntryPoints& call() const { return call_; }
  // Made at the first call, in the GPU's context that is current then. ErrorCode::unsupported.
  Result<Handle> handle() const;

  const std::string& path() const { return library_.path(); }
  std::string version() const;        // "13.1.0"
  const std::string& sha256() const;  // Of the file, read once.

 private:
  explicit Api(DynamicLibrary library) : library_(std::move(library)) {}
  Status load();

  DynamicLibrary library_;
  EntryPoints call_;
  mutable std::mutex mutex_;
  mutable Handle handle_ = nullptr;
  mutable std::once_flag hash_once_;
  mutable std::string sha256_;
};

}  // namespace assay::cublas
