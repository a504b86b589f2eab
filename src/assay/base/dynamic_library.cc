#include "assay/base/dynamic_library.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <memory>
#include <span>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "assay/base/fd.h"
#include "assay/base/text.h"

namespace assay {
namespace {

#if defined(__SANITIZE_ADDRESS__)
#define ASSAY_UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASSAY_UNDER_ASAN 1
#endif
#endif

#ifdef ASSAY_UNDER_ASAN
constexpr bool kCanDeepBind = false;  // It would hide the sanitizer's malloc from the library.
#else
constexpr bool kCanDeepBind = true;
#endif

std::string resolved(const char* path) {
  const std::unique_ptr<char, decltype(&free)> real(realpath(path, nullptr), &free);
  return real ? real.get() : path;
}

// The loader maps what a file's header tells of; where the file ends before that, touching it is
// SIGBUS. Empty where nothing is known to be wrong: the loader says the rest.
std::string cut_short(const std::string& path) {
  if (path.find('/') == std::string::npos) return {};  // The loader searches for it.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts {};
  ElfW(Ehdr) header;
  if (!fd || ::fstat(fd.get(), &facts) != 0 || !S_ISREG(facts.st_mode) ||
      ::pread(fd.get(), &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr)))
    return {};
  const auto size = static_cast<std::uint64_t>(facts.st_size);
  std::uint64_t wanted = 0;
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    const std::uint64_t at = header.e_phoff + i * sizeof segment;
    if (::pread(fd.get(), &segment, sizeof segment, static_cast<off_t>(at)) !=
        static_cast<ssize_t>(sizeof segment))
      return fmt::format("it ends within its header: it has {} bytes", size);
    if (segment.p_type == PT_LOAD)
      wanted = std::max(wanted, std::uint64_t{segment.p_offset} + segment.p_filesz);
  }
  if (wanted <= size) return {};
  return fmt::format(
      "it is cut short: its header tells of {} bytes, and it has {}; build or copy it "
      "again",
      wanted, size);
}

std::string loader_error() {
  const char* text = dlerror();
  return text ? sanitize(text, 1000) : "no reason given";
}

}  // namespace

Result<DynamicLibrary> DynamicLibrary::open(const std::string& path, const Options& options) {
  // dlopen("") is the program itself, which nobody means by an empty path.
  if (path.empty() || path.find('\0') != std::string::npos) {
    return fail(ErrorCode::invalid_input, "'{}' is not a library's path", sanitize(path, 200));
  }
  int flags = RTLD_NOW | (options.global ? RTLD_GLOBAL : RTLD_LOCAL);
  if (options.deep_bind && kCanDeepBind) flags |= RTLD_DEEPBIND;
  if (options.no_load) flags |= RTLD_NOLOAD;
  if (const std::string why = cut_short(path); !why.empty())
    return fail(ErrorCode::not_found, "cannot load library '{}': {}", sanitize(path, 1000), why);
  dlerror();
  void* handle = dlopen(path.c_str(), flags);
  if (handle == nullptr) {
    if (options.no_load) {
      return fail(ErrorCode::not_found, "library '{}' is not loaded", sanitize(path, 1000));
    }
    return fail(ErrorCode::not_found, "cannot load library '{}': {}", sanitize(path, 1000),
                loader_error());
  }
  DynamicLibrary library;
  library.handle_ = handle;
  library.keep_mapped_ = options.keep_mapped;
  link_map* map = nullptr;
  const bool named = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name[0] != '\0';
  library.path_ = named ? resolved(map->l_name) : path;
  return library;
}

Result<DynamicLibrary> DynamicLibrary::open_bytes(const std::string& name,
                                                  std::string_view content) {
  ASSAY_TRY(UniqueFd file, create_sealed_memfd(name, std::as_bytes(std::span(content))));
  // It stays open: the loader knows the library by this path, which must not become another's.
  const int number = file.release();
  auto library = open(fmt::format("/proc/self/fd/{}", number));
  if (!library) ::close(number);
  return library;
}

DynamicLibrary::DynamicLibrary(DynamicLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      path_(std::move(other.path_)),
      keep_mapped_(other.keep_mapped_) {}

DynamicLibrary& DynamicLibrary::operator=(DynamicLibrary&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(path_, other.path_);
  std::swap(keep_mapped_, other.keep_mapped_);
  return *this;
}

DynamicLibrary::~DynamicLibrary() {
  if (handle_ != nullptr && !keep_mapped_) dlclose(handle_);
}

Result<void*> DynamicLibrary::symbol(const std::string& name) const {
  if (handle_ == nullptr || name.empty()) {
    return fail(ErrorCode::internal, "symbol '{}' asked of a library that is not open",
                sanitize(name, 200));
  }
  dlerror();
  void* address = dlsym(handle_, name.c_str());
  if (address == nullptr) {
    return fail(ErrorCode::not_found, "library '{}' has no symbol '{}'", sanitize(path_, 1000),
                sanitize(name, 200));
  }
  return address;
}

Result<std::string> library_of(const void* address) {
  Dl_info info{};
  if (address == nullptr || dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
    return fail(ErrorCode::not_found, "address {} belongs to no library", address);
  }
  return resolved(info.dli_fname);
}

}  // namespace assay
