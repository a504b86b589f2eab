#pragma once

// OpenBLAS as it is found at run time. Only its C interface is relied on, with 32-bit integers.

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "assay/base/dynamic_library.h"
#include "assay/kernel/provider.h"

namespace assay::openblas {

enum class Order : int { row_major = 101, column_major = 102 };
enum class Transpose : int { no = 111, yes = 112 };

template <class In, class T>
using GemmFunction = void(Order order, Transpose transpose_a, Transpose transpose_b, int m, int n,
                          int k, T alpha, const In* a, int lda, const In* b, int ldb, T beta,
                          T* out, int ldout);
template <class T>
using GemvFunction = void(Order order, Transpose transpose, int rows, int columns, T alpha,
                          const T* matrix, int leading, const T* x, int x_increment, T beta, T* y,
                          int y_increment);

// One mapping of the library: two copies of the file are two of these, with threads and buffers of
// their own (OpenMP's threads excepted: libgomp is mapped once).
class Api {
 public:
  // What is looked for, best first: builds for OpenMP, whose threads come to rest; serial ones;
  // those with a pool of their own. settings["library"] alone where it is given.
  static std::vector<std::string> candidates(const ProviderSettings& settings);

  // The first candidate that loads and is usable; otherwise unsupported, with every reason.
  static Result<std::shared_ptr<const Api>> open(const ProviderSettings& settings);

  GemmFunction<float, float>* sgemm = nullptr;
  GemmFunction<double, double>* dgemm = nullptr;
  GemmFunction<uint16_t, float>* sbgemm = nullptr;  // bf16 to f32. Null in most distributions.
  GemvFunction<float>* sgemv = nullptr;
  GemvFunction<double>* dgemv = nullptr;

  // Since 0.3.27 scaling by zero keeps NaN, and some versions since then scale y by beta = 0 in
  // gemv. There y is cleared before the call.
  bool gemv_reads_output = false;

  const std::string& path() const { return library_.path(); }
  const std::string& version() const { return version_; }  // "0.3.21".
  Json details() const;                                    // Configuration, core, threading.
  const std::string& sha256() const;                       // Of the file, read once.

  // Two reads if nothing changed, so that every launch can afford it.
  void use_threads(int threads) const {
    if (get_threads_() != threads || (omp_threads_ && omp_threads_() != threads))
      set_threads_(threads);
  }

 private:
  explicit Api(DynamicLibrary library) : library_(std::move(library)) {}
  static Result<std::shared_ptr<const Api>> load(const std::string& path);

  DynamicLibrary library_;
  std::string version_, configuration_, core_, threading_;
  void (*set_threads_)(int) = nullptr;
  int (*get_threads_)() = nullptr;
  int (*omp_threads_)() = nullptr;  // What an OpenMP build really goes by; else null.
  mutable std::once_flag hash_once_;
  mutable std::string sha256_;
};

}  // namespace assay::openblas
