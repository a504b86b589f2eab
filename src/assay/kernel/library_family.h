#pragma once

// For providers that load a library: the library as artifacts name it, and a family with one row
// for each of its routines.

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/dynamic_library.h"
#include "assay/base/json.h"
#include "assay/kernel/export.h"
#include "assay/kernel/family.h"

namespace assay {

// One mapping of a library. Never copied: it is what an artifact's facts are about.
class LoadedLibrary {
 public:
  explicit LoadedLibrary(DynamicLibrary library) : library_(std::move(library)) {}
  // Of a file that is not there to be read any more: what to call it, and its bytes.
  LoadedLibrary(DynamicLibrary library, std::string label, std::string_view content)
      : library_(std::move(library)), label_(std::move(label)), content_(content) {}

  template <class Function>
  Status load(const std::string& name, Function*& out) const {
    return library_.load(name, out);
  }
  const std::string& path() const { return label_.empty() ? library_.path() : label_; }
  const std::string& sha256() const;  // Of the file, read once.

  // As proven and timed: `facts` (version, threading ...), path and hash.
  Artifact artifact(std::string_view library, const KernelMetadata& row, Json facts) const;
  // An artifact may come from another process: whether it is of the library that is loaded here.
  Status check(const Artifact& artifact) const;

 private:
  DynamicLibrary library_;
  std::string label_;
  std::string_view content_;
  mutable std::once_flag hash_once_;
  mutable std::string sha256_;
};

// A row, {routine, default}, for each of its rules.
struct Routine {
  std::string name;         // "sgemm".
  bool is_default = false;  // What a caller gets without choosing.
  bool prepares = false;
  std::vector<ProblemRule> rules;      // Without targets: this machine's architecture.
  std::vector<DesignAxis> axes;        // Attributes besides; then the rows' names say them as well:
  std::string row_name = "{routine}";  // "{routine}_{tile_n}".

  // The hooks of Family, all optional but bind, which sees only what check let through.
  std::function<void(const KernelMetadata&, const Problem&, Refusals&)> check;
  std::function<size_t(const KernelMetadata&, const Problem&, int threads)> workspace_bytes;
  std::function<Status(const KernelMetadata&, const Binding&, Prepared&)> prepare;
  std::function<Result<HostStep>(const KernelMetadata&, const Binding&)> bind;
  // The call as source; without it the routine leaves in a tuned table alone.
  std::function<Result<KernelExport>(const Problem&, const ExportOptions&)> export_call;
};

// What a family needs to know of the library itself.
struct LibraryFacts {
  std::string name;  // "openblas".
  Json facts;
  std::shared_ptr<const LoadedLibrary> library;
};

std::shared_ptr<const Family> make_library_family(std::string name, LibraryFacts library,
                                                  std::vector<Routine> routines);

}  // namespace assay
