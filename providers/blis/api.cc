#include "api.h"

#include "assay/base/json.h"
#include "assay/base/text.h"

namespace assay::blis {
namespace {

#if defined(__x86_64__)
constexpr std::string_view kTriplet = "x86_64-linux-gnu";
#elif defined(__aarch64__)
constexpr std::string_view kTriplet = "aarch64-linux-gnu";
#else
constexpr std::string_view kTriplet = "";
#endif

}  // namespace

std::vector<std::string> Api::candidates(const ProviderSettings& settings) {
  if (const auto given = settings.find("library"); given != settings.end()) return {given->second};
  std::vector<std::string> paths;
  for (const std::string_view build : {"openmp", "pthread", "serial"}) {
    if (kTriplet.empty()) break;
    paths.push_back(fmt::format("/usr/lib/{}/blis-{}/libblis.so.4", kTriplet, build));
  }
  // Fedora's names of the builds with threads, then whatever the loader finds.
  for (const char* soname : {"libbliso.so.4", "libblisp.so.4", "libblis.so.4"})
    paths.emplace_back(soname);
  return paths;
}

Result<std::shared_ptr<const Api>> Api::open(const ProviderSettings& settings) {
  return first_that_loads(candidates(settings), &Api::load, Absent::last);
}

Result<std::shared_ptr<const Api>> Api::load(const std::string& path) {
  ASSAY_TRY(DynamicLibrary library, DynamicLibrary::open(path));
  const std::shared_ptr<Api> api(new Api(std::move(library)));
  if (auto loaded = api->load_functions(); !loaded)
    return fail(ErrorCode::unsupported, "'{}' is no BLIS that this provider can call: {}",
                sanitize(api->path(), 1000), loaded.error().message);
  api->find_small_switch();
  return api;
}

Status Api::load_functions() {
  const auto number = [&](const char* name) -> Result<int64_t> {
    int64_t (*get)() = nullptr;
    ASSAY_TRY(library_->load(name, get));
    return get();
  };
  ASSAY_TRY(const int64_t bits, number("bli_info_get_int_type_size"));
  if (bits != 64) return fail(ErrorCode::unsupported, "its integers have {} bits, not 64", bits);
  const char* (*version_text)() = nullptr;
  int (*core)() = nullptr;
  const char* (*core_name)(int) = nullptr;
  ASSAY_TRY(library_->load("bli_info_get_version_str", version_text));
  ASSAY_TRY(library_->load("bli_arch_query_id", core));
  ASSAY_TRY(library_->load("bli_arch_string", core_name));
  ASSAY_TRY(library_->load("bli_thread_set_num_threads", set_threads_));
  ASSAY_TRY(library_->load("bli_thread_get_num_threads", get_threads_));
  ASSAY_TRY(library_->load("bli_sgemm", f32.typed));
  ASSAY_TRY(library_->load("bli_dgemm", f64.typed));
  ASSAY_TRY(library_->load("bli_sgemm_ex", f32.expert));
  ASSAY_TRY(library_->load("bli_dgemm_ex", f64.expert));
  if (number("bli_info_get_blas_int_type_size").value_or(0) == 32) {
    static_cast<void>(library_->load("cblas_sgemm", f32.cblas));
    static_cast<void>(library_->load("cblas_dgemm", f64.cblas));
  }
  version_ = sanitize(version_text(), 100);
  core_ = sanitize(core_name(core()), 100);
  threading_ = number("bli_info_get_enable_openmp").value_or(0) != 0     ? "openmp"
               : number("bli_info_get_enable_pthreads").value_or(0) != 0 ? "pthread"
                                                                         : "serial";
  return {};
}

// The library's header sets the switch by inlined code, in a structure that differs between
// versions. Its members pack_a, pack_b and l3_sup stand in a row, one byte each, since they exist;
// where pack_b stands is seen by setting it through the exported function. Without a structure, and
// only then, 0.9 takes l3_sup for set, whatever the global one says.
void Api::find_small_switch() {
  if (is_portable()) return;
  void (*set_pack_b)(bool) = nullptr;
  if (!library_->load("bli_pack_set_pack_b", set_pack_b) ||
      !library_->load("bli_rntm_init_from_global", init_runtime_))
    return;
  Runtime before, without, with;
  init_runtime_(before.bytes.data());
  set_pack_b(false);
  init_runtime_(without.bytes.data());
  set_pack_b(true);
  init_runtime_(with.bytes.data());
  std::vector<size_t> changed;
  for (size_t i = 0; i < with.bytes.size(); ++i)
    if (with.bytes[i] != without.bytes[i]) changed.push_back(i);
  // As a user may have it in BLIS_PACK_B.
  set_pack_b(changed.size() == 1 && before.bytes[changed[0]] == std::byte{1});
  if (changed.size() == 1 && changed[0] + 1 < with.bytes.size() &&
      with.bytes[changed[0]] == std::byte{1} && with.bytes[changed[0] + 1] <= std::byte{1})
    small_switch_ = changed[0] + 1;
}

std::optional<Runtime> Api::always_packing(int threads) const {
  if (!small_switch_) return std::nullopt;
  use_threads(threads);
  Runtime runtime;
  init_runtime_(runtime.bytes.data());
  runtime.bytes[*small_switch_] = std::byte{0};
  return runtime;
}

Json Api::details() const {
  return {{"core", core_}, {"threading", threading_}, {"cblas", f32.cblas != nullptr}};
}

std::string Api::remark() const {
  if (!is_portable()) return {};
  return fmt::format("BLIS {} has no kernels for this core, and runs its portable ones ('generic')",
                     version_);
}

LibraryFacts Api::facts() const {
  Json facts = details();
  facts["version"] = version_;
  return {"blis", std::move(facts), library_};
}

}  // namespace assay::blis
