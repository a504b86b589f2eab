#pragma once

// libxsmm as this program carries it, or as a shared library that is found at run time.

#include <memory>
#include <string>
#include <vector>

#include "abi.h"
#include "assay/kernel/library_family.h"
#include "assay/kernel/provider.h"

namespace assay::libxsmm {

class Api {
 public:
  // settings["library"] alone where it is given; else what the program carries, which is mapped
  // once, or libxsmm.so.1 wherever the loader finds it. Otherwise unsupported, with the reason.
  static Result<std::shared_ptr<const Api>> open(const ProviderSettings& settings);

  // Code for out = a b (first) or out += a b, column-major; null where the library makes none.
  abi::Kernel<float, float>* dispatch(const float*, int m, int n, int k, int lda, int ldb,
                                      int ldout, bool first, bool transpose_b) const;
  abi::Kernel<double, double>* dispatch(const double*, int m, int n, int k, int lda, int ldb,
                                        int ldout, bool first, bool transpose_b) const;
  // a as pairs along k: [k / 2][lda][2].
  abi::Kernel<uint16_t, float>* dispatch(const uint16_t*, int m, int n, int k, int lda, int ldb,
                                         int ldout, bool first, bool transpose_b) const;
  abi::gemm<float>* sgemm = nullptr;
  abi::gemm<double>* dgemm = nullptr;
  abi::otrans* transpose = nullptr;

  const std::string& path() const { return library_->path(); }
  const std::string& version() const { return version_; }  // "1.17".
  const std::string& target() const { return target_; }    // "cpx".
  bool has_bf16() const;                                   // Code for bf16 is for AVX-512.
  Json details() const;
  LibraryFacts facts() const;  // For families and artifacts.

  // work(state, index, count) on that many threads, indices 0 to count - 1, as `omp parallel` does;
  // on one where there is no OpenMP.
  void parallel(int threads, void (*work)(const void* state, int index, int count),
                const void* state) const;

 private:
  explicit Api(std::shared_ptr<const LoadedLibrary> library) : library_(std::move(library)) {}
  static Result<std::shared_ptr<const Api>> load(std::shared_ptr<const LoadedLibrary> library,
                                                 std::string version);
  static Result<std::shared_ptr<const Api>> open_embedded();
  Status load_functions();
  void load_openmp();

  std::shared_ptr<const LoadedLibrary> library_;
  std::string version_, target_;
  abi::dispatch<float, float, float>* smmdispatch_ = nullptr;
  abi::dispatch<double, double, double>* dmmdispatch_ = nullptr;
  abi::dispatch<uint16_t, float, float>* bsmmdispatch_ = nullptr;
  void (*gomp_parallel_)(void (*work)(void*), void* state, unsigned threads,
                         unsigned flags) = nullptr;
  int (*thread_index_)() = nullptr;
  int (*thread_count_)() = nullptr;
};

}  // namespace assay::libxsmm
