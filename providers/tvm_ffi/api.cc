#include "api.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <mutex>

#include "assay/base/text.h"
#include "assay/device/cuda/libraries.h"

namespace assay::tvm_ffi {
namespace {

constexpr const char* kName = "libtvm_ffi.so";
constexpr size_t kMostKind = 80, kMostMessage = 1000;

std::string text_of(const abi::Bytes& bytes, size_t most) {
  if (bytes.data == nullptr) return {};
  // sanitize() marks what is cut; it needs no more than one byte beyond to know.
  return sanitize({bytes.data, std::min(bytes.size, most + 1)}, most);
}

}  // namespace

Result<DynamicLibrary> open_quietly(const std::string& file,
                                    const DynamicLibrary::Options& options) {
  constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
  std::array<struct sigaction, kSignals.size()> before{};
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], nullptr, &before[i]);
  auto library = DynamicLibrary::open(file, options);
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before[i], nullptr);
  return library;
}

std::vector<std::string> Api::candidates(const ProviderSettings& settings) {
  if (const auto given = settings.find("library"); given != settings.end()) return {given->second};
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& packages : cuda::python_package_folders(settings)) {
    const auto file = packages / "tvm_ffi" / "lib" / kName;
    if (std::filesystem::exists(file, ignored)) found.push_back(file.string());
  }
  found.emplace_back(kName);
  return found;
}

Result<std::shared_ptr<const Api>> Api::open(const ProviderSettings& settings) {
  static std::mutex mutex;
  static std::shared_ptr<const Api> first;
  const std::lock_guard lock(mutex);
  std::string reasons;
  for (const std::string& path : candidates(settings)) {
    // Open to others only once it is known to be the right one.
    const auto library = open_quietly(path, {.deep_bind = false});
    auto api = library ? load(*library) : tl::unexpected(library.error());
    if (api && first && first->path() != (*api)->path())
      api = fail(ErrorCode::unsupported, "'{}' is loaded already, and a process has one",
                 sanitize(first->path(), 300));
    if (api && !DynamicLibrary::open(path, {.deep_bind = false, .global = true}))
      api = fail(ErrorCode::unsupported, "'{}' cannot be opened to others", sanitize(path, 300));
    if (api) return first = std::move(*api);
    reasons += (reasons.empty() ? "" : "; ") + api.error().message;
  }
  return fail(ErrorCode::unsupported, "{}", reasons);
}

Result<std::shared_ptr<const Api>> Api::of(const DynamicLibrary& object) { return load(object); }

Result<std::shared_ptr<const Api>> Api::load(const DynamicLibrary& library) {
  auto api = std::make_shared<Api>();
#define ASSAY_TVM_FFI_LOAD(member, symbol, result, parameters) \
  ASSAY_TRY(library.load(symbol, api->call_.member));
  ASSAY_TVM_FFI_ENTRY_POINTS(ASSAY_TVM_FFI_LOAD)
#undef ASSAY_TVM_FFI_LOAD
  // Of an object that is linked to it these are another file's.
  ASSAY_TRY(api->path_, library_of(reinterpret_cast<const void*>(api->call_.version)));
  abi::Version version{};
  api->call_.version(&version);
  if (version.major != abi::kMajor || version.minor != abi::kMinor)
    return fail(ErrorCode::unsupported,
                "'{}' is version {} of TVM-FFI, and this assay speaks that of {}.{}",
                sanitize(api->path_, 300), api->version(), abi::kMajor, abi::kMinor);
  return api;
}

std::string Api::version() const {
  abi::Version version{};
  call_.version(&version);
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

std::string Api::take_raised() const {
  void* raised = nullptr;
  call_.move_raised(&raised);
  if (raised == nullptr) return {};
  std::string text;
  const auto* object = static_cast<const abi::Object*>(raised);
  if (object->type_index == abi::kError) {
    const auto* error = static_cast<const abi::ErrorObject*>(raised);
    const std::string kind = text_of(error->kind, kMostKind);
    text = fmt::format("{}: {}", kind.empty() ? "an error without a kind" : kind,
                       text_of(error->message, kMostMessage));
  } else {
    text = fmt::format("it raised an object of type {}, which is no error", object->type_index);
  }
  (void)call_.release(raised);
  return text;
}

}  // namespace assay::tvm_ffi
