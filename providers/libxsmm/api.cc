#include "api.h"

#include "assay/base/embedded.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "providers/libxsmm/info.h"

namespace assay::libxsmm {
namespace {

constexpr const char* kSoname = "libxsmm.so.1";

std::string_view embedded(std::string_view name) { return find_embedded(embedded_files(), name); }

}  // namespace

Result<std::shared_ptr<const Api>> Api::open(const ProviderSettings& settings) {
  const auto given = settings.find("library");
  if (given == settings.end() && !embedded("libxsmm.so").empty()) {
    // One mapping: the library has a constructor, and keeps all code that it makes.
    static const Result<std::shared_ptr<const Api>> carried = open_embedded();
    return carried;
  }
  auto library = DynamicLibrary::open(given == settings.end() ? kSoname : given->second);
  if (library) {
    auto api = load(std::make_shared<LoadedLibrary>(std::move(*library)), "1.17 or like it");
    if (api || given != settings.end()) return api;
    return fail(ErrorCode::unsupported, "{}", api.error().message);
  }
  if (given != settings.end()) return fail(ErrorCode::unsupported, "{}", library.error().message);
  return fail(ErrorCode::unsupported,
              "this assay carries no libxsmm 1.17 (build it again where libxsmm-dev is), and {}",
              library.error().message);
}

Result<std::shared_ptr<const Api>> Api::open_embedded() {
  const std::string version(embedded("version"));
  const std::string_view content = embedded("libxsmm.so");
  auto library = DynamicLibrary::open_bytes("libxsmm.so", content);
  if (!library)
    return fail(ErrorCode::unsupported, "libxsmm {}, which assay carries, does not load: {}",
                version, library.error().message);
  return load(std::make_shared<LoadedLibrary>(
                  std::move(*library), fmt::format("libxsmm.so {} inside assay", version), content),
              version);
}

Result<std::shared_ptr<const Api>> Api::load(std::shared_ptr<const LoadedLibrary> library,
                                             std::string version) {
  const std::shared_ptr<Api> api(new Api(std::move(library)));
  api->version_ = std::move(version);
  if (auto loaded = api->load_functions(); !loaded)
    return fail(ErrorCode::unsupported, "'{}' is no libxsmm 1.17: {}", sanitize(api->path(), 1000),
                loaded.error().message);
  api->load_openmp();
  return api;
}

Status Api::load_functions() {
  const auto load = [&](const char* name, auto*& function) {
    return library_->load(std::string("libxsmm_") + name, function);
  };
  abi::init* init = nullptr;
  abi::get_target_arch* target_name = nullptr;
  ASSAY_TRY(load("init", init));
  ASSAY_TRY(load("get_target_arch", target_name));
  ASSAY_TRY(load("smmdispatch", smmdispatch_));
  ASSAY_TRY(load("dmmdispatch", dmmdispatch_));
  ASSAY_TRY(load("bsmmdispatch", bsmmdispatch_));
  ASSAY_TRY(load("sgemm", sgemm));
  ASSAY_TRY(load("dgemm", dgemm));
  ASSAY_TRY(load("otrans", transpose));
  init();
  const char* name = target_name();
  target_ = name != nullptr ? sanitize(name, 100) : "unknown";
  return {};
}

// What a compiler makes of `#pragma omp parallel`, without needing one that has it.
void Api::load_openmp() {
  const auto library = DynamicLibrary::open("libgomp.so.1");
  if (!library) return;
  if (!library->load("omp_get_thread_num", thread_index_) ||
      !library->load("omp_get_num_threads", thread_count_) ||
      !library->load("GOMP_parallel", gomp_parallel_))
    gomp_parallel_ = nullptr;
}

void Api::parallel(int threads, void (*work)(const void* state, int index, int count),
                   const void* state) const {
  if (threads <= 1 || gomp_parallel_ == nullptr) {
    work(state, 0, 1);
    return;
  }
  struct Region {
    const Api* api;
    void (*work)(const void*, int, int);
    const void* state;
  } region{this, work, state};
  gomp_parallel_(
      [](void* data) {
        const auto& all = *static_cast<const Region*>(data);
        all.work(all.state, all.api->thread_index_(), all.api->thread_count_());
      },
      &region, static_cast<unsigned>(threads), 0);
}

namespace {

template <class In, class Out, class Scalar>
abi::Kernel<In, Out>* dispatch_with(abi::dispatch<In, Out, Scalar>* function, int m, int n, int k,
                                    int lda, int ldb, int ldout, bool first, int flags) {
  const Scalar one = 1, zero = 0;
  return function(m, n, k, &lda, &ldb, &ldout, &one, first ? &zero : &one, &flags,
                  &abi::kNoPrefetch);
}

}  // namespace

abi::Kernel<float, float>* Api::dispatch(const float*, int m, int n, int k, int lda, int ldb,
                                         int ldout, bool first, bool transpose_b) const {
  return dispatch_with(smmdispatch_, m, n, k, lda, ldb, ldout, first,
                       transpose_b ? abi::kTransposeB : 0);
}

abi::Kernel<double, double>* Api::dispatch(const double*, int m, int n, int k, int lda, int ldb,
                                           int ldout, bool first, bool transpose_b) const {
  return dispatch_with(dmmdispatch_, m, n, k, lda, ldb, ldout, first,
                       transpose_b ? abi::kTransposeB : 0);
}

abi::Kernel<uint16_t, float>* Api::dispatch(const uint16_t*, int m, int n, int k, int lda, int ldb,
                                            int ldout, bool first, bool transpose_b) const {
  if (transpose_b) return nullptr;
  return dispatch_with(bsmmdispatch_, m, n, k, lda, ldb, ldout, first, abi::kPairsInA);
}

bool Api::has_bf16() const { return target_ == "skx" || target_ == "clx" || target_ == "cpx"; }

Json Api::details() const {
  return {{"target", target_}, {"threading", gomp_parallel_ != nullptr ? "openmp" : "serial"}};
}

LibraryFacts Api::facts() const {
  Json facts = details();
  facts["version"] = version_;
  return {"libxsmm", std::move(facts), library_};
}

}  // namespace assay::libxsmm
