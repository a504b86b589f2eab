#include "api.h"

#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <string_view>

#include "assay/base/json.h"
#include "assay/base/text.h"

namespace assay::openblas {
namespace {

#if defined(__x86_64__)
constexpr std::string_view kTriplet = "x86_64-linux-gnu";
#elif defined(__aarch64__)
constexpr std::string_view kTriplet = "aarch64-linux-gnu";
#else
constexpr std::string_view kTriplet = "";
#endif

// "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH USE_OPENMP Cooperlake MAX_THREADS=64".
std::string version_in(const std::string& configuration) {
  std::istringstream words(configuration);
  std::string word;
  while (words >> word)
    if (word[0] >= '0' && word[0] <= '9') return word;
  return "unknown";
}

std::string_view threading_name(int parallel) {
  switch (parallel) {
    case 0:
      return "serial";
    case 1:
      return "pthread";
    case 2:
      return "openmp";
    default:
      return "unknown";
  }
}

// Long enough for the vectorised part of scal, short enough for one thread.
bool reads_output(gemm::cblas::GemvFunction<float>* gemv) {
  using gemm::cblas::Order, gemm::cblas::Transpose;
  constexpr int kLength = 67;
  const std::array<float, kLength> matrix{};
  const float x = 1;
  std::array<float, kLength> y;
  y.fill(std::numeric_limits<float>::quiet_NaN());
  gemv(Order::column_major, Transpose::no, kLength, 1, 1.0f, matrix.data(), kLength, &x, 1, 0.0f,
       y.data(), 1);
  for (const float value : y)
    if (std::isnan(value)) return true;
  return false;
}

}  // namespace

std::vector<std::string> Api::candidates(const ProviderSettings& settings) {
  if (const auto given = settings.find("library"); given != settings.end()) return {given->second};
  std::vector<std::string> paths;
  for (const std::string_view build : {"openmp", "serial", "pthread"}) {
    if (kTriplet.empty()) break;
    paths.push_back(fmt::format("/usr/lib/{}/openblas-{}/libopenblas.so.0", kTriplet, build));
  }
  // Fedora's name of the OpenMP build, then whatever the loader finds.
  for (const char* soname : {"libopenblaso.so.0", "libopenblas.so.0"}) paths.emplace_back(soname);
  return paths;
}

Result<std::shared_ptr<const Api>> Api::open(const ProviderSettings& settings) {
  return first_that_loads(candidates(settings), &Api::load, Absent::last);
}

Result<std::shared_ptr<const Api>> Api::load(const std::string& path) {
  ASSAY_TRY(DynamicLibrary library, DynamicLibrary::open(path));
  std::shared_ptr<Api> api(new Api(std::move(library)));
  const LoadedLibrary& mapped = *api->library_;
  char* (*config)() = nullptr;
  char* (*core)() = nullptr;
  int (*parallel)() = nullptr;
  const auto load_all = [&]() -> Status {
    ASSAY_TRY(mapped.load("openblas_get_config", config));
    ASSAY_TRY(mapped.load("openblas_get_corename", core));
    ASSAY_TRY(mapped.load("openblas_get_parallel", parallel));
    ASSAY_TRY(mapped.load("openblas_set_num_threads", api->set_threads_));
    ASSAY_TRY(mapped.load("openblas_get_num_threads", api->get_threads_));
    ASSAY_TRY(mapped.load("cblas_sgemm", api->sgemm));
    ASSAY_TRY(mapped.load("cblas_dgemm", api->dgemm));
    ASSAY_TRY(mapped.load("cblas_sgemv", api->sgemv));
    ASSAY_TRY(mapped.load("cblas_dgemv", api->dgemv));
    return {};
  };
  if (auto loaded = load_all(); !loaded)
    return fail(ErrorCode::unsupported, "'{}' is no OpenBLAS with a C interface: {}",
                sanitize(api->path(), 1000), loaded.error().message);
  static_cast<void>(mapped.load("cblas_sbgemm", api->sbgemm));
  api->configuration_ = config();
  api->core_ = core();
  api->threading_ = threading_name(parallel());
  api->version_ = version_in(api->configuration_);
  if (api->configuration_.find("USE64BITINT") != std::string::npos)
    return fail(ErrorCode::unsupported,
                "'{}' is built for 64-bit integers; the 32-bit build is what this provider calls",
                sanitize(api->path(), 1000));
  // A look-up by handle also finds what the library itself depends on: the libgomp that it uses.
  if (api->threading_ == "openmp")
    static_cast<void>(mapped.load("omp_get_max_threads", api->omp_threads_));
  api->gemv_reads_output = reads_output(api->sgemv);
  return api;
}

Json Api::details() const {
  return {{"configuration", configuration_},
          {"core", core_},
          {"threading", threading_},
          {"sbgemm", sbgemm != nullptr}};
}

LibraryFacts Api::facts() const {
  Json facts = details();
  facts["version"] = version_;
  return {"openblas", std::move(facts), library_};
}

}  // namespace assay::openblas
