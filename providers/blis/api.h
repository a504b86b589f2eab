#pragma once

// BLIS as it is found at run time: its typed interface, which takes any strides, and the CBLAS that
// most programs call. Facts of the ABI, stated because the library's header is not needed to build
// or run: dim_t and inc_t are 64-bit integers (other builds are refused), trans_t is an
// enumeration of which only the zero, "as it is", is used.

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/kernel/library_family.h"
#include "assay/kernel/provider.h"
#include "assay/op/gemm/cblas.h"

namespace assay::blis {

inline constexpr int kAsItIs = 0;

// out = alpha a b + beta out. An out with beta = 0 is written and not read.
template <class T>
using GemmFunction = void(int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k,
                          const T* alpha, const T* a, int64_t a_row, int64_t a_column, const T* b,
                          int64_t b_row, int64_t b_column, const T* beta, T* out, int64_t out_row,
                          int64_t out_column);
// The same for experts: a context (null: the machine's) and how to run.
template <class T>
using ExpertFunction = void(int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k,
                            const T* alpha, const T* a, int64_t a_row, int64_t a_column, const T* b,
                            int64_t b_row, int64_t b_column, const T* beta, T* out, int64_t out_row,
                            int64_t out_column, const void* context, const void* runtime);
// What an expert's call says of how it is run (rntm_t); 88 bytes in 0.9.
struct alignas(16) Runtime {
  std::array<std::byte, 1024> bytes{};
};

// One mapping of the library. Its number of threads belongs to the mapping.
class Api {
 public:
  // What is looked for, best first: builds for OpenMP, whose threads stay; those that start threads
  // for every call; serial ones. settings["library"] alone where it is given.
  static std::vector<std::string> candidates(const ProviderSettings& settings);

  // The first candidate that loads and is usable; otherwise unsupported, with every reason.
  static Result<std::shared_ptr<const Api>> open(const ProviderSettings& settings);

  template <class T>
  struct Functions {
    GemmFunction<T>* typed = nullptr;
    ExpertFunction<T>* expert = nullptr;
    gemm::cblas::GemmFunction<T, T>* cblas = nullptr;  // Null where its integers are not 32 bits.
  };
  Functions<float> f32;
  Functions<double> f64;

  const std::string& path() const { return library_->path(); }
  const std::string& version() const { return version_; }  // "0.9.0".
  Json details() const;                                    // Core, threading.
  std::string remark() const;                              // Where it runs portable code alone.
  LibraryFacts facts() const;                              // For families and artifacts.

  // A read if nothing changed, so that every launch can afford it.
  void use_threads(int threads) const {
    if (get_threads_() != threads) set_threads_(threads);
  }

  // For a call that packs its operands whatever their sizes, on that many threads; nothing where
  // this build does not say how, or has no other way: its portable kernels always pack.
  bool can_always_pack() const { return small_switch_.has_value(); }
  std::optional<Runtime> always_packing(int threads) const;

 private:
  explicit Api(DynamicLibrary library)
      : library_(std::make_shared<LoadedLibrary>(std::move(library))) {}
  static Result<std::shared_ptr<const Api>> load(const std::string& path);
  Status load_functions();
  void find_small_switch();
  bool is_portable() const { return core_ == "generic"; }

  std::shared_ptr<const LoadedLibrary> library_;
  std::string version_, core_, threading_;
  void (*set_threads_)(int64_t) = nullptr;
  int64_t (*get_threads_)() = nullptr;
  void (*init_runtime_)(void*) = nullptr;
  std::optional<size_t> small_switch_;  // Where in a Runtime small problems may go unpacked.
};

}  // namespace assay::blis
