#pragma once

// Shared libraries loaded at run time. Symbols stay local (RTLD_LOCAL) unless asked for, so that
// two BLAS in one process do not answer for one another.

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "assay/base/result.h"

namespace assay {

class DynamicLibrary {
 public:
  struct Options {
    bool deep_bind =
        true;  // Its own symbols before those of the process; off under AddressSanitizer.
    bool no_load = false;     // Only if it is mapped already.
    bool global = false;      // Its symbols serve what is loaded after it.
    bool keep_mapped = true;  // Stays after the handle is gone: kernels keep pointers into it.
  };

  // A path with a slash is that file; without, the loader's search. ErrorCode::not_found if it
  // cannot be loaded, with the loader's reason.
  static Result<DynamicLibrary> open(const std::string& path, const Options& options);
  static Result<DynamicLibrary> open(const std::string& path) { return open(path, Options{}); }

  // A library that the program carries: mapped from memory, so that nothing has to be written.
  // `name` is for messages and process maps. Each call is a mapping of its own.
  static Result<DynamicLibrary> open_bytes(const std::string& name, std::string_view content);

  DynamicLibrary(DynamicLibrary&& other) noexcept;
  DynamicLibrary& operator=(DynamicLibrary&& other) noexcept;
  ~DynamicLibrary();

  // ErrorCode::not_found if there is no such symbol.
  Result<void*> symbol(const std::string& name) const;

  // load("cblas_sgemm", api.sgemm): as symbol(), typed by `out`, which is left alone on failure.
  template <class Function>
  Status load(const std::string& name, Function*& out) const {
    static_assert(std::is_function_v<Function>, "load() is for functions; use symbol() for data");
    ASSAY_TRY(void* address, symbol(name));
    out = reinterpret_cast<Function*>(address);
    return {};
  }

  const std::string& path() const { return path_; }  // The file that is mapped, links resolved.
  void* handle() const { return handle_; }

 private:
  DynamicLibrary() = default;
  void* handle_ = nullptr;
  std::string path_;
  bool keep_mapped_ = true;
};

// Of files that are not there: whether a sentence of several candidates tells of each, or of the
// last alone, which is the loader's own search and says most.
enum class Absent : std::uint8_t { each, last };

// What `load` (of a path, to a Result) makes of the first of `paths` that it takes. Where it takes
// none: ErrorCode::unsupported, with what was wrong with them.
template <class Load>
std::invoke_result_t<const Load&, const std::string&> first_that_loads(
    const std::vector<std::string>& paths, const Load& load, Absent absent = Absent::each) {
  std::string reasons;
  for (const std::string& path : paths) {
    auto loaded = load(path);
    if (loaded) return loaded;
    if (absent == Absent::last && loaded.error().code == ErrorCode::not_found &&
        path != paths.back())
      continue;
    reasons += (reasons.empty() ? "" : "; ") + loaded.error().message;
  }
  return fail(ErrorCode::unsupported, "{}", reasons);
}

// The file whose code or data is at `address`, links resolved: which library really ran. not_found
// if it belongs to none.
Result<std::string> library_of(const void* address);

}  // namespace assay
