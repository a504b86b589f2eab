#pragma once

// OpenBLAS as it is found at run time. Only its C interface is relied on, with 32-bit integers.

#include <memory>
#include <string>
#include <vector>

#include "assay/kernel/library_family.h"
#include "assay/kernel/provider.h"
#include "assay/op/gemm/cblas.h"

namespace assay::openblas {

// One mapping of the library: two copies of the file are two of these, with threads and buffers of
// their own (OpenMP's threads excepted: libgomp is mapped once).
class Api {
 public:
  // What is looked for, best first: builds for OpenMP, whose threads come to rest; serial ones;
  // those with a pool of their own. settings["library"] alone where it is given.
  static std::vector<std::string> candidates(const ProviderSettings& settings);

  // The first candidate that loads and is usable; otherwise unsupported, with every reason.
  static Result<std::shared_ptr<const Api>> open(const ProviderSettings& settings);

  gemm::cblas::GemmFunction<float, float>* sgemm = nullptr;
  gemm::cblas::GemmFunction<double, double>* dgemm = nullptr;
  gemm::cblas::GemmFunction<uint16_t, float>* sbgemm =
      nullptr;  // bf16 to f32. Null in most distributions.
  gemm::cblas::GemvFunction<float>* sgemv = nullptr;
  gemm::cblas::GemvFunction<double>* dgemv = nullptr;

  // Since 0.3.27 scaling by zero keeps NaN, and some versions since then scale y by beta = 0 in
  // gemv. There y is cleared before the call.
  bool gemv_reads_output = false;

  const std::string& path() const { return library_->path(); }
  const std::string& version() const { return version_; }  // "0.3.21".
  Json details() const;                                    // Configuration, core, threading.
  LibraryFacts facts() const;                              // For families and artifacts.

  // Two reads if nothing changed, so that every launch can afford it.
  void use_threads(int threads) const {
    if (get_threads_() != threads || (omp_threads_ && omp_threads_() != threads))
      set_threads_(threads);
  }

 private:
  explicit Api(DynamicLibrary library)
      : library_(std::make_shared<LoadedLibrary>(std::move(library))) {}
  static Result<std::shared_ptr<const Api>> load(const std::string& path);

  std::shared_ptr<const LoadedLibrary> library_;
  std::string version_, configuration_, core_, threading_;
  void (*set_threads_)(int) = nullptr;
  int (*get_threads_)() = nullptr;
  int (*omp_threads_)() = nullptr;  // What an OpenMP build really goes by; else null.
};

}  // namespace assay::openblas
